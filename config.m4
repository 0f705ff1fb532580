dnl The PHP extension: bindings/php over core/ and interop/, all compiled into one dueq.so.

PHP_ARG_ENABLE([dueq],
  [whether to enable dueq],
  [AS_HELP_STRING([--enable-dueq], [Enable the dueq message queue])],
  [yes])
PHP_ARG_ENABLE([dueq-symbols],
  [whether to keep the symbols of dueq],
  [AS_HELP_STRING([--enable-dueq-symbols], [Keep the symbols of dueq, for a debugger])],
  [no], [no])

if test "$PHP_DUEQ" != "no"; then
  PKG_CHECK_MODULES([DUEQ_DEPS], [hiredis >= 0.14 openssl >= 1.1.1])
  PHP_EVAL_INCLINE([$DUEQ_DEPS_CFLAGS])
  PHP_EVAL_LIBLINE([$DUEQ_DEPS_LIBS], [DUEQ_SHARED_LIBADD])
  dnl A thread of resolve.c may run on when PHP unloads its modules.
  case $host_os in
    darwin*) ;;
    *) DUEQ_SHARED_LIBADD="$DUEQ_SHARED_LIBADD -Wl,-z,nodelete -Wl,-z,relro,-z,now" ;;
  esac
  dnl A fifth of the file is what PHP loads. The rest is for debuggers.
  if test "$PHP_DUEQ_SYMBOLS" = "no"; then
    DUEQ_SHARED_LIBADD="$DUEQ_SHARED_LIBADD -Wl,-s"
  fi
  PHP_SUBST([DUEQ_SHARED_LIBADD])

  dnl As in CMakeLists.txt and setup.py: a buffer overrun ends the process, and addresses that the
  dnl loader filled in are read-only. A build without optimization (for a debug build of PHP) gets
  dnl no _FORTIFY_SOURCE: the C library would warn.
  AC_MSG_CHECKING([which _FORTIFY_SOURCE the C library knows])
  dueq_cflags=$CFLAGS
  dueq_fortify=
  for dueq_level in 2 3; do
    CFLAGS="$dueq_cflags -Werror -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=$dueq_level"
    AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[#include <string.h>]], [[]])],
      [dueq_fortify="-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=$dueq_level"])
  done
  CFLAGS=$dueq_cflags
  AC_MSG_RESULT([${dueq_fortify:-none}])

  dueq_core=`cat "$abs_srcdir/core/sources.list" "$abs_srcdir/interop/sources.list" | tr '\n' ' '`
  test -n "$dueq_core" || AC_MSG_ERROR([core/sources.list is missing or empty])

  PHP_NEW_EXTENSION([dueq],
    [bindings/php/dueq.c bindings/php/client.c bindings/php/persistent.c dnl
     bindings/php/queue.c bindings/php/admin.c dnl
     bindings/php/query.c bindings/php/inspect.c bindings/php/queues.c dnl
     bindings/php/message.c bindings/php/settle.c bindings/php/messages.c dnl
     bindings/php/consumer.c bindings/php/consumer_loop.c bindings/php/consumer_handle.c dnl
     bindings/php/link.c bindings/php/pending.c bindings/php/pusher.c dnl
     bindings/php/lock.c bindings/php/draft.c bindings/php/parameters.c dnl
     bindings/php/backoff.c bindings/php/enums.c bindings/php/verbs.c dnl
     bindings/php/times.c bindings/php/schedule.c bindings/php/batch.c dnl
     bindings/php/interop/json.c bindings/php/interop/move.c dnl
     bindings/php/interop/redisson/queue.c bindings/php/interop/redisson/queue_values.c dnl
     bindings/php/interop/redisson/value.c bindings/php/interop/laravel/queue.c dnl
     bindings/php/interop/laravel/job_draft.c bindings/php/interop/laravel/job.c dnl
     bindings/php/call.c bindings/php/exception.c bindings/php/notice.c $dueq_core],
    [$ext_shared],,
    [-DZEND_ENABLE_STATIC_TSRMLS_CACHE=1 -fvisibility=hidden dnl
     -fstack-protector-strong $dueq_fortify])
  PHP_ADD_INCLUDE([$abs_srcdir/core])
  PHP_ADD_INCLUDE([$abs_srcdir/interop])
  for dueq_source in $dueq_core bindings/php/dueq.c; do
    dueq_folder=$ext_builddir/`dirname $dueq_source`
    PHP_ADD_BUILD_DIR([$dueq_folder], [1])
  done
  for dueq_system in redisson laravel; do
    PHP_ADD_BUILD_DIR([$ext_builddir/bindings/php/interop/$dueq_system], [1])
  done
fi
