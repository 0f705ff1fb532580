/* The scripts and the verbs, as scripts/embed.py makes them from scripts/ and verbs.toml. */
#include "verbs.h"

#include "../scripts.inc"
