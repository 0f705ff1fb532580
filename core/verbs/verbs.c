/*
 * The scripts, and the verbs that send them: made by scripts/embed.py from scripts/ and verbs.toml.
 */
#include "verbs.h"

#include "../scripts.inc"
