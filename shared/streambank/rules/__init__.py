"""Pure decisions: functions of facts, policy and `now`."""
