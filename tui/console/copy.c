/* copy - puts text into the clipboard of the user's terminal. */
/* SPDX-License-Identifier: MIT */
#include "tui/console/copy.h"

#include <errno.h>

#include "core/base/base64.h"

#define OSC52_MAX ((size_t)74994) /* some terminals drop a text that is longer when encoded */

int copy_by_terminal(struct screen *screen, const char *text, size_t len, struct err *err)
{
	AUTO_BUF struct buf encoded = BUF_INIT;

	if (len > OSC52_MAX)
		return err_say(err, -E2BIG,
			       "%zu bytes are more than terminals take: set console.copy-command, "
			       "for example to wl-copy",
			       len);
	base64_encode(&encoded, text, len);
	if (!screen_clipboard(screen, encoded.data))
		return err_say(err, -ENOTSUP,
			       "this terminal has no clipboard: set console.copy-command, for "
			       "example to wl-copy");
	return 0;
}
