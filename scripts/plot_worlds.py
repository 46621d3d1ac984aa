"""Draw the means of the paper's four worlds, or of those named. The same as `ns-mab-gym plot`.

python scripts/plot_worlds.py --out docs/worlds.png
"""

from ns_mab_gym.cli.choosing import plot
from ns_mab_gym.cli.parser import leave

if __name__ == "__main__":
    leave(plot(command="plot_worlds.py"))
