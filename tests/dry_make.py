"""What tests hand to make where its recipes are not run."""

import sys

# Without them make starts every Python of this machine to find the right ones, for a second and more.
MAKE_VARIABLES = (f"PYTHON={sys.executable}", f"PYTHON313={sys.executable}")
