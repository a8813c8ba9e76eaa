"""Predictions of notebook 04."""
