/* fuzz_config - a project's file of any bytes is refused or read, and never loosens anything. */
/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/io.h"
#include "core/base/buf.h"
#include "core/config/config_priv.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int collect(void *data, const struct config_setting *s)
{
	buf_fmt(data, "%s.%s=%s%s\n", s->section, s->name, s->value ? ":" : "",
		s->value ? s->value : "");
	return 0;
}

/* libgit2 must read what the plain reader accepts, with the same result. */
static void compare(const uint8_t *data, size_t size)
{
	AUTO_FREE char *text = xstrndup((const char *)data, size);
	AUTO_FREE char *same = xstrndup((const char *)data, size);
	AUTO_BUF struct buf plain = BUF_INIT;
	AUTO_BUF struct buf git = BUF_INIT;
	struct err err = {0};

	if (strlen(text) != size || strcasestr(text, "include"))
		return;
	if (config_read_plain(text, collect, &plain) < 0) {
		if (strcmp(text, same) != 0)
			abort();
		return;
	}
	if (config_read_git(same, size, "x", collect, &git, &err) < 0 ||
	    strcmp(plain.data, git.data) != 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char dir[] = "/tmp/cordon-fuzz-XXXXXX";
	static int fd = -1;
	const struct config_spec spec = {
		.home = "/nonexistent", .folder = dir, .org_file = "/dev/null/x"};
	const char *const *list;
	struct config *c = NULL;
	struct err err = {0};

	compare(data, size);
	if (fd < 0) {
		if (!mkdtemp(dir))
			abort();
		fd = open(dir, O_PATH | O_CLOEXEC);
	}
	if (io_write_file(fd, ".cordon.conf", 0600, data, size, false) < 0)
		abort();
	if (config_load(&c, &spec, &err) < 0) {
		if (!err.code || !*err.text)
			abort();
		return 0;
	}
	if (str_eq(config_str(c, "network.mode"), "open") || !config_bool(c, "sandbox.landlock") ||
	    config_list(c, "sandbox.rw", &list) || config_list(c, "sandbox.env", &list))
		abort();
	config_free(c);
	return 0;
}
