"""Predictions of notebook 11."""
