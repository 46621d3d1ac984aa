"""What makes a world hard and which window fits it: a description, a picture, a recommendation.

python scripts/diagnose.py data.csv                      # one column an arm, one row a round
python scripts/diagnose.py NSBandit-Abrupt-v0 --measure  # a registered world, with the windows played
"""

from __future__ import annotations

from ns_mab_gym.theory.command import main

if __name__ == "__main__":
    main()
