#include "laravel/laravel.h"
#include "redisson/redisson.h"

#include "scripts.inc"
