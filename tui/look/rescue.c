/* rescue - restores the user's terminal, also from a signal handler. */
/* SPDX-License-Identifier: MIT */
#include "tui/look/rescue.h"

#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "core/base/util.h"

/* Switches off every mode that cordon may have set; the order does not matter. */
#define MODES_OFF                                                                                  \
	"\033[?2026l\033[?1006l\033[?1002l\033[?1004l\033[?2004l\033[>4m\033[0 q\033[0m\033[?25h"  \
	"\033[?1049l\033[?1l\033>\033[23;2t"
#define PLAIN_OFF "\033[0m\033[?25h\r\n"

static const int fatal[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS, SIGTRAP};

static struct termios saved;
static struct sigaction old_actions[ARRAY_LEN(fatal)];
static int tty = -1, flags = -1;
static bool modern, have_saved, caught;
static volatile atomic_bool armed;
static char stack[64 << 10]; /* for the handler: the normal stack may have overflowed */

static void put(const char *bytes, size_t len)
{
	while (len > 0) {
		ssize_t n = write(tty, bytes, len);

		if (n <= 0)
			return;
		bytes += n;
		len -= (size_t)n;
	}
}

void rescue_restore(void)
{
	if (!atomic_exchange(&armed, false))
		return;
	if (modern)
		put(MODES_OFF, sizeof(MODES_OFF) - 1);
	else
		put(PLAIN_OFF, sizeof(PLAIN_OFF) - 1);
	if (have_saved)
		tcsetattr(tty, TCSANOW, &saved);
	if (flags >= 0)
		fcntl(tty, F_SETFL, flags);
}

static void on_fatal(int sig)
{
	static const char msg[] =
		"cordon: crashed: this is a bug: the sandbox ends with it, `cordon "
		"log` shows what was kept\n";

	if (atomic_load(&armed)) {
		rescue_restore();
		put(msg, sizeof(msg) - 1);
	}
	raise(sig); /* SA_RESETHAND: with the default action */
}

void rescue_arm(int tty_fd, bool is_modern)
{
	stack_t alt = {.ss_sp = stack, .ss_size = sizeof(stack)};
	struct sigaction sa = {.sa_handler = on_fatal,
			       .sa_flags = (int)(SA_ONSTACK | SA_RESETHAND)};

	tty = tty_fd;
	modern = is_modern;
	flags = fcntl(tty, F_GETFL);
	have_saved = tcgetattr(tty, &saved) == 0;
	sigemptyset(&sa.sa_mask);
	sigaltstack(&alt, NULL);
	for (size_t i = 0; i < ARRAY_LEN(fatal); i++)
		sigaction(fatal[i], &sa, &old_actions[i]);
	caught = true;
	atomic_store(&armed, true);
}

void rescue_rearm(void)
{
	have_saved = tcgetattr(tty, &saved) == 0;
	atomic_store(&armed, true);
}

void rescue_disarm(void)
{
	atomic_store(&armed, false);
	for (size_t i = 0; caught && i < ARRAY_LEN(fatal); i++)
		sigaction(fatal[i], &old_actions[i], NULL);
	caught = false;
}
