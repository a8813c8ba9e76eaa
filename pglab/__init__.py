"""Policy gradients for language models, with nothing taken on faith."""

__version__ = "0.1.0"
