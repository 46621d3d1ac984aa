"""Run by the Python of an empty environment, outside the checkout: is the installed wheel whole, and nothing more?"""

import importlib.util
import sys
import zipfile

import gymnasium as gym

import ns_mab_gym
import ns_mab_gym.agents
from ns_mab_gym.envs import ENV_IDS

files = zipfile.ZipFile(sys.argv[1]).namelist()
tops = {name.split("/")[0] for name in files}

assert "site-packages" in ns_mab_gym.__file__, f"not the installed package: {ns_mab_gym.__file__}"
assert importlib.util.find_spec("agents") is None, "a top-level package `agents` was installed"
assert len(tops) == 2, f"the wheel installs more than ns_mab_gym and its metadata: {sorted(tops)}"
assert "ns_mab_gym/py.typed" in files, "py.typed is missing from the wheel"
for name in ns_mab_gym.agents.names():
    ns_mab_gym.agents.kind(name)
for env_id in ENV_IDS:
    env = gym.make(env_id, horizon=100)
    env.reset(seed=0)
    env.step(0)

print(f"wheel: {len(files)} files, {len(ENV_IDS)} ids, {len(ns_mab_gym.agents.names())} agents, nothing but ns_mab_gym")
