/* process - sections of a profile about processes, the kernel's tables and terminals. */
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
	/* Names of shared memory are those of all programs of this Mac. OpenMP's one has the number
	 * of its process, and nothing but an address in it. */
	sbpl_allow(b->s, "ipc-posix-shm-read-data ipc-posix-shm-write-create "
			 "ipc-posix-shm-write-unlink");
	buf_str(&b->s->text, "\n\t(ipc-posix-name-regex "
			     "#\"^/__KMP_REGISTERED_LIB_[0-9]+(_[0-9]+)?$\")");
	sbpl_end(b->s);
}

/*
 * Not (allow mach*): with it come other processes' task ports. Nor (allow process*): with it comes
 * information about every process of the user. Nor (allow mach-register): a program outside could
 * take what is inside for the service that it looks for. Signals stay inside.
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
 * /dev/ttys* as a whole would be every terminal of the user: one could read what is typed there,
 * and type. Only a pseudo terminal that was opened inside carries the extension.
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
