"""`python -m ufkit`, for where the command is not on the path."""

import sys

from ufkit.cli import main

sys.exit(main())
