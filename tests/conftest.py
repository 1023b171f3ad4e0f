"""What all tests share."""

from hypothesis import HealthCheck, settings

# A loaded machine is slow, not wrong: no example has a deadline.
settings.register_profile("kedge", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("kedge")
