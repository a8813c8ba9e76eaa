"""Predictions of notebook 07."""
