/* signing - finds out whether git signs commits with keys that are not available inside. */
/* SPDX-License-Identifier: MIT */
#pragma once

enum signing {
	SIGNING_NONE,
	SIGNING_GPG, /* with gpg or gpgsm, whose homes are hidden */
	SIGNING_SSH, /* gpg.format=ssh: it needs the ssh-agent (--ssh-agent) */
};

/* Reads git's settings for the repository of the folder, without the files that they include. */
enum signing signing_of(const char *folder, const char *home);
