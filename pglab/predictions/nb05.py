"""Predictions of notebook 05."""
