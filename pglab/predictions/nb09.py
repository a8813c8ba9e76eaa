"""Predictions of notebook 09."""
