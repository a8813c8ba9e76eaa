"""Predictions of notebook 03."""
