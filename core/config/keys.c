/* keys - every setting there is: name, type, default, and what a working folder may set. */
/* SPDX-License-Identifier: MIT */
#include "core/config/config.h"

/*
 * A file in the working folder is the agent's or a stranger's. PROJECT_NEVER is the rule; the
 * exceptions can only take something away from the sandbox.
 */
static const struct config_key keys[] = {
	{"sandbox.backend", CONFIG_STR, "native", NULL, PROJECT_NEVER, NULL,
	 "which confinement to use; `cordon doctor` lists them"},
	{"sandbox.preset", CONFIG_ENUM, "default", "default|strict", PROJECT_ONLY, "strict",
	 "resource limits: default fits the machine, strict is 1024 processes, 2 GiB, 1024 files"},
	{"sandbox.mode", CONFIG_ENUM, "dynamic", "static|dynamic", PROJECT_ONLY, "dynamic",
	 "dynamic: reading what no rule grants is asked for; static: all but hidden paths is "
	 "readable"},
	{"sandbox.read-gate", CONFIG_ENUM, "auto", "auto|fuse|trap", PROJECT_NEVER, NULL,
	 "dynamic mode: a FUSE file system before what is asked for, or every open trapped"},
	{"sandbox.processes", CONFIG_INT, NULL, NULL, PROJECT_NEVER, NULL,
	 "most processes inside; unset: as the preset says"},
	{"sandbox.memory", CONFIG_INT, NULL, NULL, PROJECT_NEVER, NULL,
	 "most memory inside, in bytes (k, m, g); unset: as the preset says"},
	{"sandbox.open-files", CONFIG_INT, NULL, NULL, PROJECT_NEVER, NULL,
	 "most open files per process; unset: as the preset says"},
	{"sandbox.cpu-seconds", CONFIG_INT, "0", NULL, PROJECT_NEVER, NULL,
	 "processor time per process; 0: unlimited"},
	{"sandbox.address-space", CONFIG_BOOL, "false", NULL, PROJECT_NEVER, NULL,
	 "limit address space too; breaks node, Go and Java, which reserve far more than they use"},
	{"sandbox.landlock", CONFIG_BOOL, "true", NULL, PROJECT_NEVER, NULL,
	 "use Landlock; off only where the kernel lacks it and you accept a weaker floor"},
	{"network.mode", CONFIG_ENUM, "ask", "none|ask|open", PROJECT_ONLY, "none",
	 "ask: a host that no rule allows is asked about; none: loopback only; open: the host's "
	 "own "
	 "network, where nothing is asked"},
	{"network.strategy", CONFIG_ENUM, "fail", "fail|rewire-device|rewire-port", PROJECT_NEVER,
	 NULL,
	 "where the host's loopback device is shared, listening elsewhere than the session may: it "
	 "fails, or goes to an address or a port of the session's own"},
	{"network.listening-base-port", CONFIG_INT, "0", NULL, PROJECT_NEVER, NULL,
	 "the first port that a session may listen at there; 0: the first of a free window"},
	{"network.listening-port-count", CONFIG_INT, "32", NULL, PROJECT_NEVER, NULL,
	 "how many ports from there on"},
	{"network.listening-loopback", CONFIG_STR, NULL, NULL, PROJECT_NEVER, NULL,
	 "the loopback address to listen at; unset: 127.0.0.1, with rewire-device one of its own"},
	{"vm.memory", CONFIG_INT, "0", NULL, PROJECT_NEVER, NULL,
	 "--backend vm: the guest's memory in bytes (k, m, g); 0: 2g, or half of the host's"},
	{"vm.cpus", CONFIG_INT, "0", NULL, PROJECT_NEVER, NULL,
	 "--backend vm: its processors; 0: up to four, one where it is emulated"},
	{"vm.mode", CONFIG_ENUM, "ephemeral", "ephemeral|persistent", PROJECT_NEVER, NULL,
	 "--backend vm: what changes outside the working folders is gone at the end, or is kept in "
	 "an image for each folder (cordon vm list, cordon vm reset)"},
	{"vm.disk", CONFIG_INT, "8g", NULL, PROJECT_NEVER, NULL,
	 "--backend vm: most bytes of such an image (k, m, g)"},
	{"vm.kernel", CONFIG_STR, NULL, NULL, PROJECT_NEVER, NULL,
	 "--backend vm: a kernel image named vmlinuz-RELEASE; unset: a downloaded one (cordon vm "
	 "build), else the host's own"},
	{"sandbox.debug", CONFIG_BOOL, "true", NULL, PROJECT_ONLY, "false",
	 "let programs inside trace each other (gdb, strace)"},
	{"sandbox.nesting", CONFIG_BOOL, "false", NULL, PROJECT_ONLY, "false",
	 "let programs inside make namespaces; mounts in them need sandbox.landlock=off too"},
	{"sandbox.env", CONFIG_LIST, NULL, NULL, PROJECT_NEVER, NULL,
	 "an environment variable to pass on; several may be given"},
	{"sandbox.set-env", CONFIG_LIST, NULL, NULL, PROJECT_NEVER, NULL,
	 "NAME=VALUE to set inside; $CORDON_CACHE/ at the head of the value is the cache's place"},
	{"sandbox.argument", CONFIG_LIST, NULL, NULL, PROJECT_NEVER, NULL,
	 "an option that the command is given before its own, unless it has it; for profiles"},
	{"sandbox.cache", CONFIG_BOOL, "true", NULL, PROJECT_ONLY, "false",
	 "a writable directory for the caches of tools, one for each working folder; it lasts"},
	{"sandbox.rw", CONFIG_PATHS, NULL, NULL, PROJECT_NEVER, NULL,
	 "a further working folder; several may be given"},
	{"sandbox.ro", CONFIG_PATHS, NULL, NULL, PROJECT_NEVER, NULL,
	 "a folder that is visible inside and never writable; several may be given"},
	{"sandbox.hide", CONFIG_PATHS, NULL, NULL, PROJECT_ADD, NULL,
	 "a path that does not exist inside; several may be given"},
	{"sandbox.overlay", CONFIG_PATHS, NULL, NULL, PROJECT_NEVER, NULL,
	 "a directory whose changes are kept apart, in the state folder; several may be given"},
	{"journal.undo", CONFIG_BOOL, "true", NULL, PROJECT_NEVER, NULL,
	 "record changes; off, nothing can be undone: for folders that can be thrown away"},
	{"journal.durable", CONFIG_BOOL, "false", NULL, PROJECT_NEVER, NULL,
	 "undo survives power loss too: what a change replaces is on the disk before it happens"},
	{"journal.size", CONFIG_INT, "1g", NULL, PROJECT_NEVER, NULL,
	 "most bytes of a folder's undo store (k, m, g); the oldest steps make room; 0: unlimited"},
	{"journal.steps", CONFIG_INT, "100", NULL, PROJECT_NEVER, NULL,
	 "most steps that are kept; 0: unlimited"},
	{"journal.step-size", CONFIG_INT, "200m", NULL, PROJECT_NEVER, NULL,
	 "most bytes that one step keeps; beyond it goes on unprotected; 0: unlimited"},
	{"undo.external", CONFIG_ENUM, "barrier", "barrier|warn|lock", PROJECT_NEVER, NULL,
	 "an edit from outside: a rollback stops before it (barrier), it is only told (warn), or "
	 "other programs may not write in the folders at all (lock; needs root)"},
	{"undo.home", CONFIG_BOOL, "false", NULL, PROJECT_NEVER, NULL,
	 "undo what a step changed outside the working folders, too: an agent's own notes, granted "
	 "places; false: only with --all-places"},
	{"safeguard.deletes", CONFIG_INT, "50", NULL, PROJECT_NEVER, NULL,
	 "a step is held at this many deletes of what was there before it; 0: never"},
	{"safeguard.overwrites", CONFIG_INT, "10", NULL, PROJECT_NEVER, NULL,
	 "a step is held at this many openings for writing, or cuts, of large files; 0: never"},
	{"safeguard.overwrite-bytes", CONFIG_INT, "1m", NULL, PROJECT_NEVER, NULL,
	 "what a large file is, in bytes (k, m, g)"},
	{"safeguard.renames-over", CONFIG_INT, "100", NULL, PROJECT_NEVER, NULL,
	 "a step is held at this many files that another is renamed over; 0: never"},
	{"safeguard.timeout", CONFIG_INT, "0", NULL, PROJECT_NEVER, NULL,
	 "a held step is denied after this many seconds without an answer; 0: it waits"},
	{"approval.timeout", CONFIG_INT, "0", NULL, PROJECT_NEVER, NULL,
	 "a request is denied after this many seconds without an answer; 0: it waits"},
	{"approval.command", CONFIG_STR, NULL, NULL, PROJECT_NEVER, NULL,
	 "a shell command that answers requests: JSON on its input, exit status 0 allows once"},
	{"approval.command-timeout", CONFIG_INT, "60", NULL, PROJECT_NEVER, NULL,
	 "seconds that approval.command may take; then the request is denied"},
	{"acp.editor-tools", CONFIG_ENUM, "off", "off|ask|on", PROJECT_NEVER, NULL,
	 "--stdio: may an agent read, write and run through its editor, outside the sandbox"},
	{"api.on-disconnect", CONFIG_ENUM, "end", "end|continue", PROJECT_NEVER, NULL,
	 "cordon serve and mcp: the client goes away in mid-command: end it, or let it and those "
	 "that wait finish first"},
	{"approval.notify", CONFIG_STR, NULL, NULL, PROJECT_NEVER, NULL,
	 "a shell command that is run when something waits: the same JSON on its input"},
	{"approval.remember", CONFIG_INT, "3", NULL, PROJECT_NEVER, NULL,
	 "seconds that an answer given once is good for, when the same process asks the same "
	 "again"},
	{"git.credentials", CONFIG_BOOL, "false", NULL, PROJECT_ONLY, "false",
	 "git inside may be given your credentials for a host, by https: each host is asked for; "
	 "the token then passes through git inside"},
	{"ssh.agent", CONFIG_LIST, NULL, NULL, PROJECT_NEVER, NULL,
	 "KEY HOST...: a key of your ssh-agent, by fingerprint or comment, and the hosts that it "
	 "may "
	 "sign in to from inside; each is asked for; several may be given"},
	{"reading.list", CONFIG_ENUM, "free", "free|ask", PROJECT_ONLY, "ask",
	 "free: the names in directories that no rule grants show; ask: listing one is asked for, "
	 "too"},
	{"tools.safe", CONFIG_ENUM, "off", "off|warn|on", PROJECT_ONLY, "on",
	 "front ends for find, xargs, parallel and rm inside: on: what to use instead of running "
	 "commands on unseen names, or removing elsewhere, is said and it is not run; warn: it is "
	 "said, and run"},
	{"bundle.allow", CONFIG_LIST, NULL, NULL, PROJECT_NEVER, NULL,
	 "a section of a profile whose ask lines allow: you were asked about it and said always"},
	{"record.enabled", CONFIG_BOOL, "true", NULL, PROJECT_NEVER, NULL,
	 "record every session in the console, for cordon replay"},
	{"record.keep", CONFIG_INT, "20", NULL, PROJECT_NEVER, NULL,
	 "how many recordings there are; the oldest make room; 0: none"},
	{"record.size", CONFIG_INT, "1g", NULL, PROJECT_NEVER, NULL,
	 "most bytes of all recordings (k, m, g): old ones make room, one that takes half of it "
	 "ends; 0: unlimited"},
	{"record.input", CONFIG_BOOL, "false", NULL, PROJECT_NEVER, NULL,
	 "record keystrokes too, except while the terminal does not echo them"},
	{"record.redact", CONFIG_LIST, NULL, NULL, PROJECT_NEVER, NULL,
	 "an extended regular expression: what matches is recorded as stars; several may be given"},
	{"record.cast", CONFIG_ENUM, "v2", "v2|v3", PROJECT_NEVER, NULL,
	 "the version of asciicast that --record and --export cast write"},
	{"ui.theme", CONFIG_STR, "default", NULL, PROJECT_NEVER, NULL,
	 "colours: default, dark, light, high-contrast, deuteranopia, tritanopia, mono, or the "
	 "name "
	 "of a file in themes/"},
	{"ui.keymap", CONFIG_STR, "default", NULL, PROJECT_NEVER, NULL,
	 "keys: default, vim, emacs, or the name of a file in keymaps/"},
	{"ui.prefix", CONFIG_STR, NULL, NULL, PROJECT_NEVER, NULL,
	 "the one key that cordon takes from the agent, as C-g or F12; else the keymap's"},
	{"ui.mouse", CONFIG_BOOL, "true", NULL, PROJECT_NEVER, NULL,
	 "take mouse events; off leaves selecting text to the terminal"},
	{"ui.motion", CONFIG_BOOL, "true", NULL, PROJECT_NEVER, NULL,
	 "false: nothing on the screen blinks or turns"},
	{"ui.ascii", CONFIG_BOOL, "false", NULL, PROJECT_NEVER, NULL,
	 "draw borders with - | + instead of line characters"},
	{"console.clipboard", CONFIG_ENUM, "ask", "ask|allow|deny", PROJECT_NEVER, NULL,
	 "may the agent put text into your clipboard; it never reads it"},
	{"console.copy-command", CONFIG_STR, NULL, NULL, PROJECT_NEVER, NULL,
	 "a shell command that takes what you copy on its input; none: the terminal does (OSC 52)"},
	{"console.open", CONFIG_STR, NULL, NULL, PROJECT_NEVER, NULL,
	 "a command that opens the web or mail address that you choose in the agent's pane, as "
	 "xdg-open; none: it is copied"},
	{"console.notify", CONFIG_ENUM, "terminal", "terminal|desktop|command", PROJECT_NEVER, NULL,
	 "how the console calls you when something waits, or the agent has finished or ended "
	 "while you look elsewhere: the terminal (OSC 9), notify-send, or console.notify-command"},
	{"console.notify-command", CONFIG_STR, NULL, NULL, PROJECT_NEVER, NULL,
	 "a shell command that takes the words of console.notify=command on its input"},
	{"ui.exit", CONFIG_BOOL, "false", NULL, PROJECT_NEVER, NULL,
	 "leave the console when the command ends"},
};

const struct config_key *config_keys(size_t *ret_n)
{
	*ret_n = ARRAY_LEN(keys);
	return keys;
}
