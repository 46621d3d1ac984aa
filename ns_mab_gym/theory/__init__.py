"""What makes a world hard: functions of a (T, K) matrix of means."""
