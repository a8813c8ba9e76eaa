"""One palette for every picture: the same thing has the same colour in every notebook.

Every colour has a contrast of at least 4.5 against white, so that it can be the colour of a
word as well as of a line. Any two differ by 15 or more in CIELAB, also for eyes without one of the
three kinds of cones (simulated after Machado, Oliveira and Fernandes 2009): partly in lightness, which
paper without colour keeps too. The words beside the lines say the same.
"""

INK = "#1a1a1a"  # text and axes
QUIET = "#6a6a6a"  # tick labels, axis labels, whatever is only there for comparison
GRID = "#e6e6e6"
CONTOUR = "#c4c4c4"  # lines that words may cross
PAPER = "#ffffff"

BLUE = "#3275ae"
VERMILLION = "#a04b29"
GREEN = "#0c583a"
PURPLE = "#8f3477"
OCHRE = "#907001"
INDIGO = "#5846b0"
CRIMSON = "#81041b"

# The estimators of the collection, by the name of their weight.
ESTIMATORS = {
    "exact": INK,
    "none": VERMILLION,
    "constant": OCHRE,
    "value": BLUE,
    "optimal": GREEN,
    "batch_mean": PURPLE,
    "leave_one_out": INDIGO,
    "grpo": CRIMSON,
}

# Weights of a step of a trajectory. The full return is what REINFORCE without a baseline uses.
STEP_WEIGHTS = {
    "return": VERMILLION,
    "reward_to_go": OCHRE,
    "baselined": BLUE,
    "q": PURPLE,
    "advantage": GREEN,
    "gae": INDIGO,
    "from_start": CRIMSON,
}

# The words that stand beside them.
NAMES = {
    "exact": "exact gradient",
    "none": "no baseline",
    "constant": "constant b",
    "value": "value E[R]",
    "optimal": "optimal b*",
    "batch_mean": "batch mean",
    "leave_one_out": "leave-one-out",
    "grpo": "GRPO",
    "return": "full return",
    "reward_to_go": "reward-to-go",
    "baselined": "reward-to-go minus V",
    "q": "Q",
    "advantage": "A = Q - V",
    "gae": "GAE",
    "from_start": "gamma^t reward-to-go",
}

# Roles in the pictures of a single step.
ROLES = {
    "before": QUIET,
    "after": BLUE,
    "up": BLUE,
    "down": VERMILLION,
    "score": VERMILLION,
    "pathwise": BLUE,
    "argmax": VERMILLION,
    "softmax": BLUE,
}

# What keeps a step small, and the estimates of KL.
CONSTRAINTS = {
    "free": VERMILLION,
    "clip": BLUE,
    "swapped": CRIMSON,
    "kl_penalty": OCHRE,
    "trust": GREEN,
    "narrow": PURPLE,
    "small": INDIGO,
    "believed": PURPLE,
    "KL": INK,
    "to_right": BLUE,
    "to_rare": VERMILLION,
    "plain": VERMILLION,
    "natural": GREEN,
    "critic": BLUE,
    "k1": VERMILLION,
    "k2": OCHRE,
    "k3": BLUE,
}
NAMES |= {
    "free": "no constraint",
    "clip": "clip",
    "swapped": "min and max swapped",
    "kl_penalty": "KL penalty",
    "trust": "trust region",
    "narrow": "narrow trust region",
    "small": "small steps",
    "to_right": "to right answers",
    "to_rare": 'to "5", the rarest',
    "plain": "plain gradient",
    "natural": "natural gradient",
    "critic": "critic",
}

# Completions of another policy, and how they are weighed.
ENGINES = {
    "as they come": VERMILLION,
    "weights of tokens": OCHRE,
    "weights of sequences": BLUE,
    "bias": VERMILLION,
    "both": INK,
    "one process": BLUE,
    "two processes": OCHRE,
}

# Critics: how they are trained, and how they are wrong; the two numbers of GAE.
CRITICS = {
    "learning": GREEN,
    "dead": CRIMSON,
    "frozen": BLUE,
    "noise": OCHRE,
    "too high": VERMILLION,
    "late": OCHRE,
    "random": BLUE,
    "hates poor pages": PURPLE,
    "0.3 too high": VERMILLION,
    "0.2 too high": CRIMSON,
    "0.1 too high": INDIGO,
    "perfect": INK,
    "exact V": INK,
    "lambda 0": VERMILLION,
    "lambda 0.5": OCHRE,
    "lambda 0.9": BLUE,
    "lambda 1": INK,
    "gamma 1": INK,
    "gamma 0.95": BLUE,
    "gamma 0.9": OCHRE,
    "gamma 0.8": PURPLE,
}

# Small language models: how far they are trained, and which rule of the loss is broken.
LANGUAGE = {
    "untrained": QUIET,
    "pretrained": VERMILLION,
    "half-way": OCHRE,
    "trained": BLUE,
    "right": BLUE,
    "detached": BLUE,
    "attached": VERMILLION,
    "prompt in": OCHRE,
    "filled with 9": INDIGO,
    "end token out": CRIMSON,
    "no shift": VERMILLION,
    "two shifts": PURPLE,
    "mean score": QUIET,
    "row means": BLUE,
}
LANGUAGE |= {
    f"seed {k}": colour
    for k, colour in enumerate((BLUE, VERMILLION, GREEN, PURPLE, OCHRE, INDIGO, CRIMSON, QUIET))
}

# Post-training: who is compared with whom, and what is paid for.
POST_TRAINING = {
    "reinforce {0,1}": BLUE,
    "reinforce {-1,0}": OCHRE,
    "reinforce {1,2}": VERMILLION,
    "rloo": INDIGO,
    "dr_grpo": GREEN,
    "ppo lam 1": BLUE,
    "ppo lam 0.95": OCHRE,
    "outcome": INK,
    "process": OCHRE,
    "steps": BLUE,
    "paid": VERMILLION,
    "truth": INK,
    "worked": GREEN,
    "predicted": VERMILLION,
    "seen": BLUE,
    "pass@1": BLUE,
    "pass@64": PURPLE,
    "entropy": OCHRE,
    "rate 0.0001": OCHRE,
    "rate 0.001": BLUE,
    "rate 0.01": CRIMSON,
    "healthy": BLUE,
    "broken": VERMILLION,
    "action seen": VERMILLION,
    "whole traces": VERMILLION,
    "each step": BLUE,
    "b = -3": OCHRE,
    "b = 0.3": BLUE,
}
NAMES |= {
    "reinforce {0,1}": "{0, 1}",
    "reinforce {-1,0}": "{-1, 0}",
    "reinforce {1,2}": "{1, 2}",
    "rloo": "RLOO",
    "dr_grpo": "Dr. GRPO",
    "ppo lam 1": "lambda 1",
    "ppo lam 0.95": "lambda 0.95",
}

# The variants, one term each: what is switched, and how large the groups are.
VARIANTS = {
    "true": INK,
    "G = 2": GREEN,
    "G = 4": OCHRE,
    "G = 8": CRIMSON,
    "G = 16": BLUE,
    "G = 64": PURPLE,
    "G = 1000": INK,
    "wrong": VERMILLION,
    "bound 1.2": BLUE,
    "bound 1.28": OCHRE,
    "bound none": VERMILLION,
    "cispo": VERMILLION,
    "cispo_alone": CRIMSON,
    "gspo": PURPLE,
    "dapo": BLUE,
    "grpo_clip_higher": OCHRE,
    "grpo_token_mean": GREEN,
    "grpo_dynamic": PURPLE,
    "grpo_overlong": VERMILLION,
}
NAMES |= {
    "bound none": "no bound",
    "cispo": "CISPO",
    "cispo_alone": "CISPO's weight alone",
    "gspo": "GSPO",
    "dapo": "DAPO",
    "grpo_clip_higher": "clip-higher",
    "grpo_token_mean": "token mean",
    "grpo_dynamic": "dynamic sampling",
    "grpo_overlong": "overlong",
}

COLOURS = (
    ESTIMATORS | STEP_WEIGHTS | ROLES | CONSTRAINTS | CRITICS | LANGUAGE | POST_TRAINING | VARIANTS | ENGINES
)
