"""The frame around every verb: parsing, and an exit code and a message for whatever goes wrong."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Sequence
from types import FrameType
from typing import Any, NoReturn

import click

from ufkit.cli.command import cli
from ufkit.cli.output import Output
from ufkit.cli.rules import INTERNAL, INTERRUPTED, OUT_OF_MEMORY, USAGE
from ufkit.core.diag import FileError, RequestError, UfkitError, Where
from ufkit.core.rules import CANNOT_READ, CANNOT_WRITE

COMPLETE = "_UFKIT_COMPLETE"
_FAULT = 70  # EX_SOFTWARE of sysexits.h
_INTERRUPTED = 130
_TERMINATED = 143


def run(args: Sequence[str]) -> int:
    """Run one command; gives the exit code. Nothing but the exit code leaves it."""
    _prepare_streams()
    output = Output()
    try:
        return _guarded(list(args), output)
    except BrokenPipeError:
        # Whoever read our output has seen enough: `ufkit dump X | head`. What is still buffered
        # must not raise again when Python ends. No error: the reader had its reasons.
        _silence(sys.stdout)
        return 0
    except KeyboardInterrupt:  # a second one, while the first was being reported
        return _INTERRUPTED


def _guarded(args: list[str], output: Output) -> int:
    try:
        code = _parsed(args, output)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except click.exceptions.Exit as stop:
        code = stop.exit_code
    except UfkitError as error:
        _debug(output, args)
        output.fail(error.diagnostics)
        code = error.exit_code
    except click.ClickException as error:
        _debug(output, args)
        output.fail(_usage(error).diagnostics)
        code = RequestError.exit_code
    except (KeyboardInterrupt, click.Abort):
        output.answer(None, [INTERRUPTED.at(Where(), "interrupted")], ok=False)
        sys.stderr.write("interrupted\n")
        code = _INTERRUPTED
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else _FAULT
    except OSError as error:
        _debug(output, args)
        output.fail(_file_error(error).diagnostics)
        code = FileError.exit_code
    except MemoryError as error:
        _debug(output, args)
        output.fail([OUT_OF_MEMORY.at(Where(), f"there is not enough memory {error}".strip())])
        code = _FAULT
    except Exception as error:  # noqa: BLE001  the last line of defence
        shown = _debug(output, args)
        message = f"this is a fault in ufkit: {type(error).__name__}: {error}"
        output.fail([INTERNAL.at(Where(), message, hint="please report it" if shown else None)])
        code = _FAULT
    with contextlib.suppress(ValueError, OSError):  # stdout may be what failed
        sys.stdout.flush()
    return code


def _parsed(args: list[str], output: Output) -> int:
    if args[:1] == ["help"]:
        args = [*args[1:], "--help"]
    # A command line that cannot be parsed is answered in the form it asked for.
    options = args[: args.index("--")] if "--" in args else args
    output.json = "--json" in options
    output.debug = "--debug" in options
    output.verb = next((word for word in args if word in cli.list_commands(None)), "error")
    if COMPLETE in os.environ:
        from click.shell_completion import shell_complete

        return shell_complete(cli, {}, "ufkit", COMPLETE, os.environ[COMPLETE])
    with contextlib.suppress(ValueError):  # where this is not the main thread
        signal.signal(signal.SIGTERM, _terminated)
    # Not `cli.main`: that has ideas of its own about interrupts and closed pipes.
    with cli.make_context("ufkit", args, obj=output) as ctx:
        result = cli.invoke(ctx)
    return result if isinstance(result, int) else 0


def _terminated(number: int, frame: FrameType | None) -> NoReturn:
    """End like any failure does, so that nothing half-written stays behind."""
    raise SystemExit(_TERMINATED)


def _usage(error: click.ClickException) -> RequestError:
    hint = ""
    message = error.format_message()
    if isinstance(error, click.UsageError) and error.ctx is not None:
        hint = f"{error.ctx.command_path} --help"
    if isinstance(error, click.NoSuchOption):
        message = f"there is no option {error.option_name}"
        if error.possibilities:
            hint = f"did you mean {error.possibilities[0]}? Otherwise: {hint}"
    message = message.removesuffix(".")
    return RequestError(USAGE.at(Where(), message[:1].lower() + message[1:], hint=hint))


def _file_error(error: OSError) -> FileError:
    rule = CANNOT_READ if error.filename else CANNOT_WRITE
    name = os.fsdecode(error.filename) if isinstance(error.filename, (str, bytes)) else ""
    return FileError(rule.at(Where(name), f"{error.strerror or error}"))


def _debug(output: Output, args: Sequence[str]) -> bool:
    """Print the traceback of the error being handled, if that was asked for."""
    if output.debug:
        import traceback

        sys.stderr.write(traceback.format_exc())
    return output.debug


def _prepare_streams() -> None:
    """No character and no missing stream shall end a run that went well."""
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115  for as long as the process lives
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if reconfigure := getattr(stream, "reconfigure", None):
            reconfigure(errors="backslashreplace")


def _silence(stream: Any) -> None:
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
