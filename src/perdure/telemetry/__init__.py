"""Telemetry by OpenTelemetry (extra `otel`): imported only where a program asks for it."""
