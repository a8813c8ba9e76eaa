"""Predictions of notebook 00."""
