/* keys - all settings: name, type, default, and what a working folder may set. */
/* SPDX-License-Identifier: MIT */
#include "core/config/config.h"

/*
 * A file in the working folder is from the agent or a stranger. The rule is PROJECT_NEVER;
 * exceptions can only restrict the sandbox further.
 */
static const struct config_key keys[] = {
	{"sandbox.backend", CONFIG_STR, "native", NULL, PROJECT_NEVER, NULL,
	 "which confinement to use; `cordon doctor` lists them"},
	{"sandbox.preset", CONFIG_ENUM, "default", "default|strict", PROJECT_ONLY, "strict",
	 "resource limits: default fits the machine, strict is 1024 processes, 2 GiB, 1024 files"},
	{"sandbox.mode", CONFIG_ENUM, "dynamic", "static|dynamic", PROJECT_ONLY, "dynamic",
	 "dynamic: a read that no rule grants waits for an answer; static: everything but hidden "
	 "paths can be read"},
	{"sandbox.read-gate", CONFIG_ENUM, "auto", "auto|fuse|trap", PROJECT_NEVER, NULL,
	 "dynamic mode: fuse shows ungranted trees through a FUSE file system; trap traps every "
	 "open; auto: fuse where it can be mounted"},
	{"sandbox.processes", CONFIG_INT, NULL, NULL, PROJECT_NEVER, NULL,
	 "most processes inside; unset: as the preset says"},
	{"sandbox.memory", CONFIG_INT, NULL, "0|1m..", PROJECT_NEVER, NULL,
	 "most memory inside, in bytes (k, m, g); unset: as the preset says"},
	{"sandbox.open-files", CONFIG_INT, NULL, "0|64..", PROJECT_NEVER, NULL,
	 "most open files per process; unset: as the preset says"},
	{"sandbox.cpu-seconds", CONFIG_INT, "0", NULL, PROJECT_NEVER, NULL,
	 "processor time per process; 0: unlimited"},
	{"sandbox.address-space", CONFIG_BOOL, "false", NULL, PROJECT_NEVER, NULL,
	 "limit address space too; breaks node, Go and Java, which reserve far more than they use"},
	{"sandbox.landlock", CONFIG_BOOL, "true", NULL, PROJECT_NEVER, NULL,
	 "use Landlock; off only where the kernel lacks it and you accept weaker protection"},
	{"sandbox.as-root", CONFIG_BOOL, "false", NULL, PROJECT_NEVER, NULL,
	 "macOS: let the agent run as root where cordon runs as root and was not started with "
	 "sudo; else such a session does not start"},
	{"sandbox.seatbelt", CONFIG_ENUM, "helper", "helper|sandbox-exec", PROJECT_NEVER, NULL,
	 "macOS: what puts the profile on the agent: cordon's own helper, or /usr/bin/sandbox-exec "
	 "where the helper does not work"},
	{"network.mode", CONFIG_ENUM, "ask", "none|ask|open", PROJECT_ONLY, "none",
	 "ask: a connection to a host that no rule allows waits for an answer; none: loopback "
	 "only; open: the host's own network, without questions"},
	{"network.strategy", CONFIG_ENUM, "fail", "fail|rewire-device|rewire-port", PROJECT_NEVER,
	 NULL,
	 "where the loopback device is shared with the host, a program that listens outside the "
	 "session's ports fails, or gets an address or a port of the session instead"},
	{"network.listening-base-port", CONFIG_INT, "0", "0..65535", PROJECT_NEVER, NULL,
	 "the first port of the session; 0: the first of a free range"},
	{"network.listening-port-count", CONFIG_INT, "32", "1..65535", PROJECT_NEVER, NULL,
	 "the number of ports of the session"},
	{"network.listening-loopback", CONFIG_STR, NULL, "ADDRESS", PROJECT_NEVER, NULL,
	 "the loopback address to listen at; unset: 127.0.0.1, with rewire-device one of its own"},
	{"vm.memory", CONFIG_INT, "0", NULL, PROJECT_NEVER, NULL,
	 "--backend vm: the guest's memory in bytes (k, m, g); 0: 2g, or half of the host's"},
	{"vm.cpus", CONFIG_INT, "0", "0..255", PROJECT_NEVER, NULL,
	 "--backend vm: its processors; 0: up to four, one where it is emulated"},
	{"vm.machine", CONFIG_ENUM, "q35", "q35|microvm", PROJECT_NEVER, NULL,
	 "--backend vm: the kind of machine; microvm has fewer devices, and starts no later"},
	{"vm.mode", CONFIG_ENUM, "ephemeral", "ephemeral|persistent", PROJECT_NEVER, NULL,
	 "--backend vm: changes outside the working folders are lost at the end, or kept in an "
	 "image for each folder (cordon vm list, cordon vm reset)"},
	{"vm.disk", CONFIG_INT, "8g", NULL, PROJECT_NEVER, NULL,
	 "--backend vm: the largest size of such an image (k, m, g)"},
	{"vm.kernel", CONFIG_STR, NULL, NULL, PROJECT_NEVER, NULL,
	 "--backend vm: a kernel image named vmlinuz-RELEASE; unset: a downloaded one (cordon vm "
	 "build), else the host's own"},
	{"network.secret", CONFIG_LIST, NULL, "NAME, HOST, HEADER, COMMAND", PROJECT_NEVER, NULL,
	 "NAME, HOST, HEADER, COMMAND: the variable NAME inside holds a placeholder; cordon "
	 "replaces it in HEADER of requests to HOST with the output of COMMAND, which runs "
	 "outside; several may be given"},
	{"network.bytes", CONFIG_LIST, NULL, "HOST SIZE", PROJECT_NEVER, NULL,
	 "HOST SIZE (api.example.com 50m): you are told once when the agent has sent more than "
	 "that "
	 "to HOST, a name, *.DOMAIN, address or *; several may be given, the nearest counts"},
	{"sandbox.debug", CONFIG_BOOL, "true", NULL, PROJECT_ONLY, "false",
	 "let programs inside trace each other (gdb, strace)"},
	{"sandbox.nesting", CONFIG_BOOL, "false", NULL, PROJECT_ONLY, "false",
	 "let programs inside make namespaces; mounts in them need sandbox.landlock=off too"},
	{"sandbox.env", CONFIG_LIST, NULL, "NAME", PROJECT_NEVER, NULL,
	 "an environment variable to pass on; several may be given"},
	{"sandbox.set-env", CONFIG_LIST, NULL, "NAME=VALUE", PROJECT_NEVER, NULL,
	 "NAME=VALUE to set inside; $CORDON_CACHE in the value is the cache directory"},
	{"sandbox.argument", CONFIG_LIST, NULL, NULL, PROJECT_NEVER, NULL,
	 "for profiles: an option to put before the command's own, unless the command has it"},
	{"sandbox.unprompted", CONFIG_LIST, NULL, NULL, PROJECT_NEVER, NULL,
	 "for profiles: the agent's own option for asking nothing by itself: see agent.prompts"},
	{"agent.prompts", CONFIG_LIST, NULL, "own|cordon", PROJECT_NEVER, NULL,
	 "own: agents ask before edits and commands by themselves, too; cordon: they are started "
	 "with their own option for not asking, and cordon alone asks; behind a profile's name it "
	 "is for that agent (claude cordon); of several the last that fits counts"},
	{"sandbox.settings-variable", CONFIG_STR, NULL, "NAME[/BELOW]", PROJECT_NEVER, NULL,
	 "for profiles: the variable that moves the agent's settings, as NAME, or NAME/BELOW if "
	 "they are in a directory below"},
	{"sandbox.settings", CONFIG_PATHS, NULL, NULL, PROJECT_NEVER, NULL,
	 "for profiles: files to copy when an agent gets separate settings for a folder"},
	{"sandbox.own-settings", CONFIG_LIST, NULL, "PROFILE [NAME]", PROJECT_NEVER, NULL,
	 "a profile, and a name for the copy: the agent uses separate settings in this folder"},
	{"sandbox.shared-settings", CONFIG_BOOL, "false", NULL, PROJECT_NEVER, NULL,
	 "all agents use the settings in your home; overrides sandbox.own-settings"},
	{"sandbox.cache", CONFIG_BOOL, "true", NULL, PROJECT_ONLY, "false",
	 "a writable directory for the caches of tools, one for each working folder, kept between "
	 "sessions"},
	{"sandbox.tool-home", CONFIG_LIST, NULL, "DIRECTORY [NAME=VALUE]", PROJECT_NEVER, NULL,
	 "a directory in which a tool keeps its caches, settings and programs, and the variable "
	 "that moves it (~/.cargo CARGO_HOME=$CORDON_CACHE/cargo): shows inside, and takes changes "
	 "that stay with the folder; with a / at its end it begins empty"},
	{"network.registries", CONFIG_BOOL, "true", NULL, PROJECT_ONLY, "false",
	 "allow connections to the registries of tools (profile registries)"},
	{"commit.co-author", CONFIG_STR, NULL, "NAME <ADDRESS>", PROJECT_NEVER, NULL,
	 "NAME <ADDRESS> that cordon commit names as Co-authored-by, below your message"},
	{"cache.size", CONFIG_INT, "5g", NULL, PROJECT_NEVER, NULL,
	 "most bytes (k, m, g) that homes of tools take for all folders together; the least "
	 "recently used ones are removed once a day; 0: unlimited"},
	{"sandbox.rw", CONFIG_PATHS, NULL, NULL, PROJECT_NEVER, NULL,
	 "a further working folder; several may be given"},
	{"sandbox.ro", CONFIG_PATHS, NULL, NULL, PROJECT_NEVER, NULL,
	 "a folder that is visible inside and never writable; several may be given"},
	{"sandbox.search-seconds", CONFIG_INT, "20", "0..4294967295", PROJECT_NEVER, NULL,
	 "how long a start may search each folder for .env files and for other names of protected "
	 "files; 0: 2 seconds at most, and files that were not searched can be read"},
	{"sandbox.hide", CONFIG_PATHS, NULL, NULL, PROJECT_ADD, NULL,
	 "a path that does not exist inside; several may be given"},
	{"sandbox.overlay", CONFIG_PATHS, NULL, NULL, PROJECT_NEVER, NULL,
	 "a directory that is writable inside; its changes are kept in the state folder; several "
	 "may be given"},
	{"worktree.copy", CONFIG_LIST, NULL, "PATTERN", PROJECT_NEVER, NULL,
	 "ignored files and directories that run --worktree copies into a new one, as node_modules "
	 "or web/*.cache: a name, or a path with a slash; never secrets, nor hidden places"},
	{"journal.undo", CONFIG_BOOL, "true", NULL, PROJECT_NEVER, NULL,
	 "record changes; off, nothing can be undone: for folders that can be thrown away"},
	{"journal.size", CONFIG_INT, "1g", NULL, PROJECT_NEVER, NULL,
	 "most bytes of a folder's undo store (k, m, g); the oldest steps make room; 0: unlimited"},
	{"journal.total-size", CONFIG_INT, "0", NULL, PROJECT_NEVER, NULL,
	 "most bytes of the undo stores of all folders together, at the end of a session (k, m, "
	 "g); "
	 "the oldest steps of the folder used longest ago make room; 0: unlimited"},
	{"journal.steps", CONFIG_INT, "100", NULL, PROJECT_NEVER, NULL,
	 "most steps that are kept; 0: unlimited"},
	{"journal.step-size", CONFIG_INT, "200m", NULL, PROJECT_NEVER, NULL,
	 "the most bytes that one step copies for undo; deleted and replaced files are moved "
	 "instead and count towards journal.size alone; 0: unlimited"},
	{"undo.external", CONFIG_ENUM, "barrier", "barrier|warn|lock", PROJECT_NEVER, NULL,
	 "an edit from outside stops a rollback (barrier), is only reported (warn), or is refused: "
	 "other programs cannot write in the folders (lock; needs root)"},
	{"undo.watched-directories", CONFIG_INT, "65536", "0..2147483647", PROJECT_NEVER, NULL,
	 "on Linux the most directories in which an edit from outside is seen at once; each takes "
	 "the kernel about 1 KB, and counts towards fs.inotify.max_user_watches"},
	{"undo.home", CONFIG_BOOL, "false", NULL, PROJECT_NEVER, NULL,
	 "undo also restores files outside the working folders: an agent's transcripts, granted "
	 "places; false: only with --all-places"},
	{"safeguard.deletes", CONFIG_INT, "50", NULL, PROJECT_NEVER, NULL,
	 "a step is held when it deletes this many files that existed before it; 0: never"},
	{"safeguard.overwrites", CONFIG_INT, "10", NULL, PROJECT_NEVER, NULL,
	 "a step is held when it opens for writing, or cuts, this many large files; 0: never"},
	{"safeguard.overwrite-bytes", CONFIG_INT, "1m", NULL, PROJECT_NEVER, NULL,
	 "the size from which a file is large, in bytes (k, m, g)"},
	{"safeguard.renames-over", CONFIG_INT, "100", NULL, PROJECT_NEVER, NULL,
	 "a step is held when it replaces this many files by renames; 0: never"},
	{"safeguard.beyond", CONFIG_ENUM, "allow", "allow|deny", PROJECT_NEVER, NULL,
	 "with --headless: allow lets a step go on without undo at the limits journal.step-size "
	 "and journal.size; deny stops the step and rolls it back; the console asks"},
	{"safeguard.timeout", CONFIG_INT, "0", "0..4294967295", PROJECT_NEVER, NULL,
	 "a held step is denied after this many seconds without an answer; 0: it waits"},
	{"approval.timeout", CONFIG_INT, "0", "0..4294967295", PROJECT_NEVER, NULL,
	 "a request is denied after this many seconds without an answer; 0: it waits"},
	{"approval.command", CONFIG_STR, NULL, NULL, PROJECT_NEVER, NULL,
	 "a shell command that answers requests: JSON on its input, exit status 0 allows once"},
	{"approval.command-timeout", CONFIG_INT, "60", "0..4294967295", PROJECT_NEVER, NULL,
	 "seconds that approval.command may take; then the request is denied"},
	{"acp.editor-tools", CONFIG_ENUM, "off", "off|ask|on", PROJECT_NEVER, NULL,
	 "--stdio: whether an agent may read, write and run commands through its editor, which is "
	 "outside the sandbox"},
	{"api.on-disconnect", CONFIG_ENUM, "end", "end|continue", PROJECT_NEVER, NULL,
	 "cordon serve and mcp: when the client goes away, end the running command, or let it and "
	 "the queued commands finish"},
	{"approval.notify", CONFIG_STR, NULL, NULL, PROJECT_NEVER, NULL,
	 "a shell command that is run when something waits: the same JSON on its input"},
	{"approval.remember", CONFIG_INT, "3", "0..4294967295", PROJECT_NEVER, NULL,
	 "seconds for which an answer for once also covers the same request of the same process"},
	{"git.credentials", CONFIG_BOOL, "false", NULL, PROJECT_ONLY, "false",
	 "git inside may get your credentials for a host over https; each host needs an answer; "
	 "the token then passes through git inside"},
	{"git.signing", CONFIG_ENUM, "ask", "ask|off", PROJECT_NEVER, NULL,
	 "where git signs commits, with keys that are not inside: say so at the start, or leave "
	 "commits and tags of the agent unsigned"},
	{"ssh.agent", CONFIG_LIST, NULL, "KEY HOST...", PROJECT_NEVER, NULL,
	 "KEY HOST...: a key of your ssh-agent, by fingerprint or comment, and the hosts where it "
	 "may sign in; each host needs an answer; several may be given"},
	{"reading.list", CONFIG_ENUM, "free", "free|ask", PROJECT_ONLY, "ask",
	 "free: names in directories that no rule grants are visible; ask: listing such a "
	 "directory waits for an answer"},
	{"tools.safe", CONFIG_ENUM, "off", "off|warn|on", PROJECT_ONLY, "on",
	 "replace find, xargs, parallel and rm inside by programs that explain a safer command and "
	 "refuse (on) or explain and run (warn) risky uses"},
	{"bundle.allow", CONFIG_LIST, NULL, NULL, PROJECT_NEVER, NULL,
	 "a section of a profile whose ask lines are allowed: your answer to that question was "
	 "always"},
	{"xpc.mode", CONFIG_ENUM, "enforce", "enforce|audit|disabled", PROJECT_NEVER, NULL,
	 "macOS: whether mach services that are not allowed are denied, only reported, or neither"},
	{"xpc.default", CONFIG_ENUM, "deny", "deny|allow", PROJECT_ONLY, "deny",
	 "macOS: what happens to a mach service that no list names"},
	{"xpc.allow", CONFIG_LIST, NULL, NULL, PROJECT_NEVER, NULL,
	 "macOS: mach services that may be looked up; * is any characters"},
	{"xpc.block", CONFIG_LIST, NULL, NULL, PROJECT_ADD, NULL,
	 "macOS: mach services that may not be looked up; overrides every other list"},
	{"xpc.allow-prefix", CONFIG_LIST, NULL, NULL, PROJECT_NEVER, NULL,
	 "macOS: prefixes of names of services that may be looked up"},
	{"xpc.block-prefix", CONFIG_LIST, NULL, NULL, PROJECT_ADD, NULL,
	 "macOS: prefixes of names of services that may not be looked up"},
	{"record.enabled", CONFIG_BOOL, "true", NULL, PROJECT_NEVER, NULL,
	 "record every session in the console, for cordon replay"},
	{"record.keep", CONFIG_INT, "20", NULL, PROJECT_NEVER, NULL,
	 "how many recordings there are; the oldest make room; 0: none"},
	{"record.size", CONFIG_INT, "1g", NULL, PROJECT_NEVER, NULL,
	 "the most bytes of all recordings (k, m, g): the oldest make room; 0: unlimited"},
	{"record.input", CONFIG_BOOL, "false", NULL, PROJECT_NEVER, NULL,
	 "record keystrokes too, except while the terminal does not echo them"},
	{"record.redact", CONFIG_LIST, NULL, "REGEX", PROJECT_NEVER, NULL,
	 "an extended regular expression: what matches is recorded as stars; several may be given"},
	{"record.cast", CONFIG_ENUM, "v2", "v2|v3", PROJECT_NEVER, NULL,
	 "the version of asciicast that --record and --export cast write"},
	{"ui.theme", CONFIG_STR, "default", NULL, PROJECT_NEVER, NULL,
	 "colours: default, dark, light, high-contrast, deuteranopia, tritanopia, mono, gruvbox, "
	 "nord, solarized-dark, solarized-light, catppuccin, or the name of a file in themes/"},
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
	 "a shell command that gets the copied text on its input; unset: the terminal copies (OSC "
	 "52)"},
	{"console.open", CONFIG_STR, NULL, NULL, PROJECT_NEVER, NULL,
	 "a command that opens a web or mail address that you choose in the agent's pane, as "
	 "xdg-open; unset: the address is copied"},
	{"console.notify", CONFIG_ENUM, "terminal", "terminal|desktop|command", PROJECT_NEVER, NULL,
	 "how the console calls you when a request waits, or the agent calls, has finished or has "
	 "ended while you look elsewhere: a notification of the terminal (OSC 9), notify-send, or "
	 "console.notify-command"},
	{"console.notify-command", CONFIG_STR, NULL, NULL, PROJECT_NEVER, NULL,
	 "a shell command that gets the message on its input, for console.notify=command"},
	{"console.on-hangup", CONFIG_ENUM, "detach", "end|detach", PROJECT_NEVER, NULL,
	 "when your terminal closes: end the session, or let it go on for cordon attach"},
	{"ui.exit", CONFIG_BOOL, "false", NULL, PROJECT_NEVER, NULL,
	 "leave the console when the command ends"},
};

const struct config_key *config_keys(size_t *ret_n)
{
	*ret_n = ARRAY_LEN(keys);
	return keys;
}
