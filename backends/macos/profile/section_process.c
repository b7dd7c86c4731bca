/* section_process - processes, the kernel's tables and terminals in a profile. */
/* SPDX-License-Identifier: MIT */
#include "backends/macos/profile/profile_priv.h"

void section_base(struct build *b)
{
	buf_str(&b->s->text, "(version 1)\n(deny default)\n");
	sbpl_comment(b->s, "The kernel's tables; semaphores and the notification center's memory");
	sbpl_allow_all(b->s, "sysctl-read");
	sbpl_allow_all(b->s, "ipc-posix-sem");
	sbpl_allow(b->s, "ipc-posix-shm-read*");
	sbpl_filter(b->s, "ipc-posix-name", "apple.shm.notification_center");
	sbpl_end(b->s);
	/* All programs of this Mac share the names of shared memory. OpenMP's has the number of its
	 * process, and holds only an address in it. */
	sbpl_allow(b->s, "ipc-posix-shm-read-data ipc-posix-shm-write-create "
			 "ipc-posix-shm-write-unlink");
	buf_str(&b->s->text, "\n\t(ipc-posix-name-regex "
			     "#\"^/__KMP_REGISTERED_LIB_[0-9]+(_[0-9]+)?$\")");
	sbpl_end(b->s);
}

/*
 * Not (allow mach*): it includes other processes' task ports. Not (allow process*): it includes
 * information about every process of the user. Not (allow mach-register): a program outside could
 * mistake a process inside for the service it looks for. Signals stay inside.
 */
void section_process(struct build *b)
{
	sbpl_comment(b->s, "Processes: new ones, of the same sandbox; signals stay inside");
	sbpl_allow_all(b->s, "process-fork");
	if (!b->spec->dynamic)
		sbpl_allow_all(b->s, "process-exec*");
	sbpl_allow_all(b->s, "file-map-executable");
	sbpl_allow(b->s, "signal process-info*");
	sbpl_word(b->s, "target", "same-sandbox");
	sbpl_end(b->s);
}

void section_mark(struct build *b)
{
	AUTO_FREE char *mark = b->spec->session ? profile_mark(b->spec->session, false) : NULL;
	AUTO_FREE char *other = mark ? profile_mark(b->spec->session, true) : NULL;

	if (!mark)
		return;
	sbpl_comment(b->s, "By this who is inside is told from all others");
	sbpl_deny(b->s, "mach-lookup");
	sbpl_filter(b->s, "global-name", other);
	sbpl_end(b->s);
	sbpl_allow(b->s, "mach-lookup");
	sbpl_filter(b->s, "global-name", mark);
	sbpl_end(b->s);
}

/*
 * Not all of /dev/ttys*: these are all terminals of the user, whose input could be read and forged.
 * Only a pseudo terminal that was opened inside has the extension.
 */
void section_pty(struct build *b)
{
	sbpl_comment(b->s, "Terminals: the session's, and those that are opened inside");
	sbpl_allow_all(b->s, "pseudo-tty");
	sbpl_allow(b->s, "file-read* file-write* file-ioctl");
	sbpl_literal(b->s, "/dev/ptmx");
	sbpl_literal(b->s, "/dev/tty");
	if (b->spec->tty)
		sbpl_literal(b->s, b->spec->tty);
	sbpl_open(b->s, "require-all");
	sbpl_regex(b->s, "^/dev/ttys[0-9]+$");
	sbpl_filter(b->s, "extension", "com.apple.sandbox.pty");
	sbpl_close(b->s);
	sbpl_end(b->s);
	sbpl_allow(b->s, "file-read* file-write-data file-ioctl");
	sbpl_literal(b->s, "/dev/null");
	sbpl_literal(b->s, "/dev/zero");
	sbpl_regex(b->s, "^/dev/(fd|stdin|stdout|stderr)(/|$)");
	sbpl_end(b->s);
	sbpl_allow(b->s, "file-read*");
	sbpl_literal(b->s, "/dev/random");
	sbpl_literal(b->s, "/dev/urandom");
	sbpl_end(b->s);
}
