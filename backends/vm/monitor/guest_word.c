/* guest_word - messages between keeper and monitor about a running guest. */
/* SPDX-License-Identifier: MIT */
#include "backends/vm/monitor/guest_word.h"

#include <string.h>

#include "core/base/util.h"

#define EXE_MAX 255

size_t guest_word_pack(struct guest_word *w, const char *exe, size_t exe_len, const char *argv,
		       size_t argv_len)
{
	w->exe_len = (uint32_t)MIN(exe_len, (size_t)EXE_MAX);
	w->argv_len = (uint32_t)MIN(argv_len, (size_t)WORD_TEXT - w->exe_len);
	if (w->exe_len)
		memcpy(w->text, exe, w->exe_len);
	if (w->argv_len)
		memcpy(w->text + w->exe_len, argv, w->argv_len);
	return WORD_HEAD + w->exe_len + w->argv_len;
}

bool guest_word_fits(const struct guest_word *w, size_t len)
{
	return len >= WORD_HEAD && len <= sizeof(*w) && w->exe_len <= EXE_MAX &&
	       w->argv_len <= WORD_TEXT - w->exe_len && len == WORD_HEAD + w->exe_len + w->argv_len;
}
