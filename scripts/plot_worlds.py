"""Draw the means of the paper's four worlds, or of those named. The same as `ns-mab-gym plot`.

python scripts/plot_worlds.py --out docs/worlds.png
"""

from ns_mab_gym.cli.door import leave
from ns_mab_gym.cli.plot_command import main

if __name__ == "__main__":
    leave(main(command="plot_worlds.py"))
