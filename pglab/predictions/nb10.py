"""Predictions of notebook 10."""
