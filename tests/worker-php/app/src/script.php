<?php

/* No class: a file that discover() must not run. */

throw new RuntimeException('this script was run');
