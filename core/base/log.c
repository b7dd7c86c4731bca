/* log - the diagnostic log: JSON lines for the people who mend cordon, never for its user. */
/* SPDX-License-Identifier: MIT */
#include "core/base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/buf.h"
#include "core/base/clock.h"
#include "core/base/io.h"
#include "core/base/json.h"

#define LOG_MAX_BYTES (8 << 20)

static int log_fd = -1;
static enum log_level log_max = LOG_ERROR;
static char log_session[64];

void log_open(int fd, enum log_level max, const char *session)
{
	log_fd = fd;
	log_max = max;
	snprintf(log_session, sizeof(log_session), "%s", session ? session : "");
}

/* Another start may have done it since fd was opened: what has the name then is a new one, and what
 * it would be renamed over the only one that is full. Whoever renames has the lock of what it
 * renames. */
static bool put_aside(int fd, const char *path)
{
	AUTO_FREE char *old = xasprintf("%s.1", path);
	struct stat st;
	bool aside;

	if (io_lock(fd) < 0)
		return false;
	aside = fstat(fd, &st) == 0 && (!io_is_at(path, &st) || rename(path, old) == 0);
	flock(fd, LOCK_UN);
	return aside;
}

int log_open_in(const char *dir, enum log_level max, const char *session)
{
	AUTO_FREE char *path = xasprintf("%s/cordon.log", dir);
	const int flags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW;
	int fd = open(path, flags, 0600);
	struct stat st;

	if (fd >= 0 && fstat(fd, &st) == 0 && st.st_size > LOG_MAX_BYTES && put_aside(fd, path)) {
		close(fd);
		fd = open(path, flags, 0600);
	}
	log_open(fd, max, session);
	return fd;
}

int log_descriptor(void)
{
	return log_fd;
}

bool log_wants(enum log_level level)
{
	return log_fd >= 0 && level <= log_max;
}

void log_line(enum log_level level, const char *component, const char *fmt, ...)
{
	static const char *const names[] = {"error", "warn", "info", "debug"};
	AUTO_BUF struct buf text = BUF_INIT;
	AUTO_BUF struct buf line = BUF_INIT;
	int saved = errno;
	char when[32];
	va_list ap;

	if (!log_wants(level))
		return;
	va_start(ap, fmt);
	buf_vfmt(&text, fmt, ap);
	va_end(ap);
	clock_iso(when, clock_wall_us());
	buf_fmt(&line, "{\"time\":\"%s\",\"level\":\"%s\",\"component\":\"%s\",\"pid\":%d", when,
		names[level], component, (int)getpid());
	if (*log_session)
		buf_fmt(&line, ",\"session\":\"%s\"", log_session);
	buf_str(&line, ",\"message\":");
	json_quote(&line, text.data, text.len);
	buf_str(&line, "}\n");
	/* A log that cannot be written must not stop what it reports on. */
	if (write(log_fd, line.data, line.len) < 0)
		errno = saved;
	errno = saved;
}
