"""Says hello, and nothing else ever."""

from raw import begin

for _ in begin():
    pass
