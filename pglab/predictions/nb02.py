"""Predictions of notebook 02."""
