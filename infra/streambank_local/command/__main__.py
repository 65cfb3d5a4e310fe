"""`python -m streambank_local.command`: the same as `streambank`."""

import sys

from streambank_local.command.entry import main

if __name__ == "__main__":
    sys.exit(main())
