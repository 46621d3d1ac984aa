"""What makes a world hard and which window fits it. The same as `ns-mab-gym diagnose`.

python scripts/diagnose.py data.csv                      # one column per arm, one row per round
python scripts/diagnose.py NSBandit-Abrupt-v0 --measure  # a registered world, with the windows played
"""

from ns_mab_gym.cli.choosing import diagnose
from ns_mab_gym.cli.parser import leave

if __name__ == "__main__":
    leave(diagnose(command="diagnose.py"))
