"""Predictions of notebook 06."""
