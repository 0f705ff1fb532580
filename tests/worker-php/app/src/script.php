<?php

/* No class: a file that discover() must not run, although it says Task. */

throw new RuntimeException('this script was run');
