/* warden - ends the session's processes if the keeper dies. */
/* SPDX-License-Identifier: MIT */
#include "backends/macos/launch/warden.h"

#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backends/macos/helper/helper.h"

struct warden {
	pid_t pid;
	int order; /* pipe; after the order: a byte to stop, end of file: kill */
};

int warden_start(struct warden **ret, const char *helper, const char *session, struct err *err)
{
	const struct helper_spec spec = {.program = helper, .role = HELPER_WARDEN, .fds = {-1, -1}};
	const struct order order = {.word = (char *)(uintptr_t)session};
	struct warden *w = xcalloc(1, sizeof(*w));
	int r = helper_start(&spec, &w->pid, &w->order, err);

	if (r < 0) {
		free(w);
		return r;
	}
	r = order_send(w->order, &order);
	if (r < 0) {
		warden_stop(w);
		return err_set(err, r, "start the process that ends the session with the keeper");
	}
	*ret = w;
	return 0;
}

void warden_stop(struct warden *w)
{
	if (!w)
		return;
	(void)!write(w->order, "", 1);
	(void)close(w->order);
	while (waitpid(w->pid, NULL, 0) < 0 && errno == EINTR)
		continue;
	free(w);
}

void warden_leave(struct warden *w)
{
	if (!w)
		return;
	(void)close(w->order);
	free(w);
}
