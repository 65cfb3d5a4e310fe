# Lambda's Python, on the path or from pyenv; empty if there is none. The Makefiles of the root and of the layer use it.
PYTHON313 ?= $(shell for p in python3.13 "$${PYENV_ROOT:-$$HOME/.pyenv}"/versions/3.13.*/bin/python3.13; do \
	if "$$p" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info[:2] != (3, 13))' >/dev/null 2>&1; then \
	"$$p" -c 'import sys; print(sys.executable)'; break; fi; done)
