"""What NVIDIA's errors were called: every error of ufkit is one."""

from ufkit.core.diag import UfkitError

UffException = UfkitError
UffReferenceException = UfkitError
UffOrdersException = UfkitError
