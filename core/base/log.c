/* log - the diagnostic log: JSON lines for developers of cordon, not for its users. */
/* SPDX-License-Identifier: MIT */
#include "core/base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <string.h>
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
static int also_fd = -1;
static pid_t also_pid;
static enum log_level also_max;
static char also_about[160];
static int64_t also_step;

void log_open(int fd, enum log_level max, const char *session)
{
	log_fd = fd;
	log_max = max;
	snprintf(log_session, sizeof(log_session), "%s", session ? session : "");
}

/* Renames a full log. Another start may have done so after fd was opened: then the name is a new
 * file, which must not be renamed over the full one. A renaming process holds the file's lock. */
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

void log_also(int fd, enum log_level max)
{
	also_fd = fd;
	also_max = max;
	also_pid = getpid();
}

void log_about(const char *request)
{
	snprintf(also_about, sizeof(also_about), "%s", request ? request : "");
}

void log_about_step(int64_t step)
{
	also_step = step;
}

int log_descriptor(void)
{
	return log_fd;
}

static bool wants_also(enum log_level level)
{
	return also_fd >= 0 && level <= also_max && getpid() == also_pid;
}

bool log_wants(enum log_level level)
{
	return (log_fd >= 0 && level <= log_max) || wants_also(level);
}

static const char *const names[] = {"error", "warn", "info", "debug"};

#define ALSO_MAX 3000 /* bytes of a message: a writable pipe takes such a line as a whole */

static bool is_free(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLOUT};

	return poll(&p, 1, 0) > 0 && p.revents & POLLOUT;
}

/* Writes a line. Ignores errors: they must not stop what is reported on. */
static void write_line(int fd, enum log_level level, const char *component, bool also,
		       const struct buf *text)
{
	AUTO_BUF struct buf line = BUF_INIT;
	char when[32];

	clock_iso(when, clock_wall_us());
	buf_fmt(&line, "{\"%s\":\"%s\",\"level\":\"%s\",\"component\":\"%s\",\"pid\":%d",
		also ? "timestamp" : "time", when, names[level], component, (int)getpid());
	if (*log_session)
		buf_fmt(&line, ",\"session\":\"%s\"", log_session);
	if (also && also_step)
		buf_fmt(&line, ",\"step_id\":%" PRId64, also_step);
	if (also && *also_about) {
		buf_str(&line, ",\"request_id\":");
		json_quote(&line, also_about, strlen(also_about));
	}
	buf_str(&line, ",\"message\":");
	json_quote(&line, text->data, also ? MIN(text->len, (size_t)ALSO_MAX) : text->len);
	buf_str(&line, "}\n");
	if (!also || is_free(fd))
		(void)!write(fd, line.data, line.len);
}

void log_line(enum log_level level, const char *component, const char *fmt, ...)
{
	AUTO_BUF struct buf text = BUF_INIT;
	int saved = errno;
	va_list ap;

	if (!log_wants(level))
		return;
	va_start(ap, fmt);
	buf_vfmt(&text, fmt, ap);
	va_end(ap);
	if (log_fd >= 0 && level <= log_max)
		write_line(log_fd, level, component, false, &text);
	if (wants_also(level))
		write_line(also_fd, level, component, true, &text);
	errno = saved;
}
