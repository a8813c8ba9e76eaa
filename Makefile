# A short way to say `python make.py WORD`, where everything is; `make` alone lists the words.
#   make lab PYTHON=python3.12        another Python
#   make lab TORCH=cuda               torch with CUDA; TORCH_INDEX=... takes it from another index
#   make test ARGS="-k bandit"        more for the tool behind the word
# What is set on make's command line (TORCH, TORCH_INDEX) reaches make.py as environment variables.
PYTHON ?= python3
WORDS = help env lab test quick render bench drawings lock clean

.PHONY: $(WORDS)
$(WORDS):
	@$(PYTHON) make.py $@ $(ARGS)

# Anything else: make.py says which words there are.
.DEFAULT:
	@$(PYTHON) make.py $@
