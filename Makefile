# A short way to say `python make.py WORD`, where everything is; `make` alone lists the words.
#   make lab PYTHON=python3.12        another Python
#   make lab TORCH=cuda               torch with CUDA; TORCH_INDEX=... takes it from another index
#   make test ARGS="-k bandit"        more for the tool behind the word
#   make checkpoints DEVICE=cuda      the models in data/ again, on another device (auto, cpu, cuda, mps)
#   make recordings ARGS=knobs        one of the recorded experiments again; without ARGS all of them
# What is set on make's command line (TORCH, TORCH_INDEX, DEVICE) reaches make.py as environment variables.
PYTHON ?= python3
WORDS = help env lab mine slides app student test quick coverage mutants render bench drawings map checkpoints recordings peers peers-bench lock clean

.PHONY: $(WORDS)
$(WORDS):
	@$(PYTHON) make.py $@ $(ARGS)

# Anything else: make.py says which words there are.
.DEFAULT:
	@$(PYTHON) make.py $@
