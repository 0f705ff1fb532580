#include <limits.h>
#include <stdio.h>

#include "base.h"

/* A longer path cannot be opened. */
static char ca_file[PATH_MAX], zone_folder[PATH_MAX];

void dueq_set_fallbacks(const char *ca, const char *zones) {
    snprintf(ca_file, sizeof ca_file, "%s", ca ? ca : "");
    snprintf(zone_folder, sizeof zone_folder, "%s", zones ? zones : "");
}

const char *dueq__fallback_ca(void) { return *ca_file ? ca_file : NULL; }

const char *dueq__fallback_zones(void) { return *zone_folder ? zone_folder : NULL; }
