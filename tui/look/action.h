/* action - everything the user can do: one list for keymaps, help, hints and the manual. */
/* SPDX-License-Identifier: MIT */
#pragma once

/* id, name in keymap files, label in the hints bar, sentence in the help */
#define ACTIONS(X)                                                                                 \
	X(HELP, "help", "help", "Show every key for this pane")                                    \
	X(DESCRIBE, "describe", "describe a key", "Say what the key that comes next does")         \
	X(PALETTE, "palette", "palette", "Find an action by its words, and do it")                 \
	X(QUIT, "quit", "quit", "Quit (asks while the agent runs)")                                \
	X(RESTART, "restart", "restart", "Start the agent anew, with the same options")            \
	X(NOTE, "note", "note", "Write why, for the agent; then deny")                             \
	X(PASTE_NOTE, "paste-note", "paste note",                                                  \
	  "Paste the note about a denial into the agent's prompt; Enter is yours")                 \
	X(SUSPEND, "suspend", "suspend", "Suspend cordon; fg in the shell brings it back")         \
	X(REDRAW, "redraw", "redraw", "Draw the whole screen again")                               \
	X(ZOOM, "zoom", "zoom", "Give the whole screen to this pane, or take it back")             \
	X(LAYOUT, "layout", "layout", "Another layout: lists at the right, below, tabs, by size")  \
	X(HIDE, "hide", "hide pane", "Hide this pane; going to it brings it back")                 \
	X(BORDER_LEFT, "border-left", "border left", "Move the border between panes left")         \
	X(BORDER_RIGHT, "border-right", "border right", "Move it right")                           \
	X(BORDER_UP, "border-up", "border up", "Move the border between panes up")                 \
	X(BORDER_DOWN, "border-down", "border down", "Move it down")                               \
	X(FOCUS_NEXT, "focus-next", "next pane", "Go to the next pane")                            \
	X(FOCUS_PREV, "focus-prev", "previous pane", "Go to the pane before")                      \
	X(FOCUS_TERMINAL, "focus-terminal", "agent", "Go to the agent's terminal")                 \
	X(FOCUS_AUDIT, "focus-audit", "activity", "Go to the list of what the agent touches")      \
	X(FOCUS_STEPS, "focus-steps", "steps", "Go to the list of steps")                          \
	X(FOCUS_APPROVALS, "focus-approvals", "answer", "Look at what waits for an answer")        \
	X(SHOW_RULES, "show-rules", "your answers",                                                \
	  "List the answers that still count, to take one back")                                   \
	X(SHOW_CONNECTIONS, "show-connections", "connections",                                     \
	  "Look at what the agent is connected to, and was")                                       \
	X(SHOW_LOG, "show-log", "log", "Look at what cordon has said so far")                      \
	X(SHOW_RESOURCES, "show-resources", "resources",                                           \
	  "Look at cpu, memory, processes and io of the session")                                  \
	X(SHOW_THEMES, "show-themes", "themes", "Choose the colours; each is shown")               \
	X(SHOW_SESSIONS, "show-sessions", "sessions",                                              \
	  "Look at the sessions that run elsewhere, and at what waits there")                      \
	X(SEND_PREFIX, "send-prefix", "send prefix", "Send the prefix key itself to the agent")    \
	X(SCROLL, "scroll", "scroll back", "Look at what scrolled out of the agent's terminal")    \
	X(CLIPBOARD, "clipboard", "let it copy", "Let the agent put its text into your clipboard") \
	X(SELECT, "select", "select", "Select from here on, or no longer")                         \
	X(SELECT_LINES, "select-lines", "select lines", "Select whole lines")                      \
	X(SELECT_BLOCK, "select-block", "select block", "Select a rectangle")                      \
	X(COPY, "copy", "copy",                                                                    \
	  "Copy what is selected: path, command or line; of a diff, the hunk")                     \
	X(WORD_NEXT, "word-next", "next word", "To the next word")                                 \
	X(WORD_END, "word-end", "end of word", "To the end of the word")                           \
	X(WORD_PREV, "word-prev", "previous word", "To the word before")                           \
	X(LINE_START, "line-start", "start of line", "To the first column")                        \
	X(LINE_TEXT, "line-text", "start of text", "To the first character of the line")           \
	X(LINE_END, "line-end", "end of line", "To the last character of the line")                \
	X(UP, "up", "up", "One line up")                                                           \
	X(DOWN, "down", "down", "One line down")                                                   \
	X(PAGE_UP, "page-up", "page up", "One page up")                                            \
	X(PAGE_DOWN, "page-down", "page", "One page down")                                         \
	X(TOP, "top", "top", "To the first line")                                                  \
	X(BOTTOM, "bottom", "bottom", "To the last line, and follow what comes")                   \
	X(LEFT, "left", "left", "Scroll left")                                                     \
	X(RIGHT, "right", "right", "Scroll right")                                                 \
	X(OPEN, "open", "open", "Open what is selected")                                           \
	X(BACK, "back", "back", "Back: close what is on top, or clear the filter")                 \
	X(SEARCH, "search", "search", "Search; the list moves while you type")                     \
	X(SEARCH_NEXT, "search-next", "next match", "Next match")                                  \
	X(SEARCH_PREV, "search-prev", "previous match", "Match before")                            \
	X(FILTER, "filter", "filter", "Show only lines with these words; !word leaves out")        \
	X(LEVEL, "level", "level",                                                                 \
	  "How much is listed: without git's own, the project's, decisions, all")                  \
	X(DETAILS, "details", "details", "All that is known about this row")                       \
	X(UNDO, "undo", "undo", "Roll the files back to before the selected step")                 \
	X(UNDO_TURN, "undo-turn", "undo turn",                                                     \
	  "Roll back all that the agent did since you told it what to do")                         \
	X(REDO, "redo", "redo", "Bring back what was undone last")                                 \
	X(RESTORE, "restore", "restore",                                                           \
	  "Bring this file or directory back as it was before the step")                           \
	X(RESTORE_HUNK, "restore-hunk", "restore hunk",                                            \
	  "Bring this hunk alone back as it was before the step, as a step")                       \
	X(NEXT_HUNK, "next-hunk", "hunk", "Next hunk")                                             \
	X(PREV_HUNK, "prev-hunk", "previous hunk", "Hunk before")                                  \
	X(FILES, "files", "files", "Go to the list of files, or back to the diff")                 \
	X(SIDE_BY_SIDE, "side-by-side", "two columns", "Old and new beside each other, or not")    \
	X(WRAP, "wrap", "wrap", "Wrap long lines, or cut them")                                    \
	X(BLANKS, "blanks", "blanks", "Leave out changes of blanks alone, or show them")           \
	X(FOLD, "fold", "fold", "Fold this hunk or file, or open it")                              \
	X(FOLD_ALL, "fold-all", "fold all", "Fold every file, or open them all")                   \
	X(EDIT, "edit", "editor", "Open this file in your editor ($VISUAL, $EDITOR)")              \
	X(COPY_FILE, "copy-file", "copy file", "Copy what this file's diff says, as a patch")      \
	X(EXPORT, "export", "export", "Write the whole diff to a patch file in your home")         \
	X(DIFF_SESSION, "diff-session", "all changes",                                             \
	  "Everything that has changed since the session began")                                   \
	X(DIFF_TURN, "diff-turn", "this turn", "Everything that has changed in this turn")         \
	X(MARK, "mark", "mark", "Mark this step, to see later what came after it")                 \
	X(DIFF_MARK, "diff-mark", "since the mark",                                                \
	  "Everything that has changed from the marked step on")                                   \
	X(NEXT_FILE, "next-file", "next file", "Next file of this step")                           \
	X(PREV_FILE, "prev-file", "previous file", "File before")                                  \
	X(NEXT_REQUEST, "next-request", "next", "Next request that waits")                         \
	X(PREV_REQUEST, "prev-request", "previous", "Request before")                              \
	X(ALLOW, "allow", "allow", "Allow it: as long and as much as chosen")                      \
	X(CHOOSE_SCOPE, "choose-scope", "how long", "How long the answer counts: once at first")   \
	X(CHOOSE_EXTENT, "choose-extent", "how much",                                              \
	  "How much it is about: exactly this at first")                                           \
	X(CHOOSE_TIME, "choose-time", "until", "When it ends by itself: never at first")           \
	X(OWN_SETTINGS, "own-settings", "own copy",                                                \
	  "Start the agent again with a copy of its settings, for this folder only")               \
	X(ALLOW_COMMAND, "allow-command", "allow command",                                         \
	  "Allow a held step, and its command line until the end")                                 \
	X(DENY, "deny", "deny", "Deny it: as long and as much as chosen")                          \
	X(REVOKE, "revoke", "take back", "Take this answer back: it will be asked again")          \
	X(SORT, "sort", "sort", "Sort by something else: the newest, host, bytes")                 \
	X(CLOSE_CONNECTION, "close-connection", "close", "Close this connection")                  \
	X(FORBID, "forbid", "forbid", "Close it, and deny it for the session")                     \
	X(PUBLISH, "publish", "publish", "Open this server of the sandbox at localhost")           \
	X(CONFIRM, "confirm", "do it", "Do it: what this page shows")                              \
	X(KEEP_MINE, "keep-mine", "keep mine",                                                     \
	  "Leave out what was changed since: it stays as it is")                                   \
	X(MERGE, "merge", "merge", "Merge both sides of files that changed since; the rest stays") \
	X(ALL_PLACES, "all-places", "all places",                                                  \
	  "Undo what was changed outside the folders, too, or leave that again")                   \
	X(FORCE, "force", "do it anyway", "Do it over files that changed since; they are kept")    \
	X(STOP, "stop", "stop and undo", "Stop the commands that run, then show what undo does")   \
	X(CANCEL, "cancel", "cancel", "Stop the work under way and put everything back")           \
	X(END_AGENT, "end-agent", "end and quit", "End the agent and leave cordon")                \
	X(PAUSE, "pause", "pause", "Stop the recording, or let it go on")                          \
	X(FASTER, "faster", "faster", "Twice as fast")                                             \
	X(SLOWER, "slower", "slower", "Half as fast")                                              \
	X(NORMAL_SPEED, "normal-speed", "normal speed", "As fast as it was")                       \
	X(IDLE_LIMIT, "idle-limit", "pauses", "Cut long pauses, or keep them")                     \
	X(NEXT_FRAME, "next-frame", "frame", "To the next output, and stop")                       \
	X(PREV_FRAME, "prev-frame", "previous frame", "To the output before, and stop")            \
	X(SEEK_FORWARD, "seek-forward", "+5 s", "5 seconds forward")                               \
	X(SEEK_BACK, "seek-back", "-5 s", "5 seconds back")                                        \
	X(SEEK_FAR_FORWARD, "seek-far-forward", "+1 min", "A minute forward")                      \
	X(SEEK_FAR_BACK, "seek-far-back", "-1 min", "A minute back")                               \
	X(SEEK_START, "seek-start", "start", "To the beginning of the recording")                  \
	X(SEEK_END, "seek-end", "end", "To its end")                                               \
	X(SEEK_TIME, "seek-time", "time", "To a time that you type: 1:02:03, 90 or 50%")           \
	X(NEXT_MARK, "next-mark", "next mark", "To the next mark of the time line")                \
	X(PREV_MARK, "prev-mark", "previous mark", "To the mark before")                           \
	X(NEXT_STEP, "next-step", "next step", "To where the next step began")                     \
	X(PREV_STEP, "prev-step", "previous step", "To where the step before began")               \
	X(NEXT_TURN, "next-turn", "next turn", "To the next line that was sent to the agent")      \
	X(PREV_TURN, "prev-turn", "previous turn", "To the line before")                           \
	X(NEXT_APPROVAL, "next-approval", "next approval", "To the next request")                  \
	X(PREV_APPROVAL, "prev-approval", "previous approval", "To the request before")            \
	X(MOMENT, "moment", "moment", "To the moment at which this was done, in the recording")

enum action {
	ACTION_NONE,
#define X(id, name, label, help) ACTION_##id,
	ACTIONS(X)
#undef X
	ACTION_COUNT
};

/* Where keys mean something: keymap sections and help headings. */
#define PLACES(X)                                                                                  \
	X(GLOBAL, "global", "everywhere")                                                          \
	X(TERMINAL, "terminal", "agent")                                                           \
	X(SCROLL, "scroll", "agent, scrolled back")                                                \
	X(AUDIT, "audit", "activity")                                                              \
	X(STEPS, "steps", "steps")                                                                 \
	X(STEP, "step", "one step")                                                                \
	X(APPROVALS, "approvals", "approvals")                                                     \
	X(DETAIL, "detail", "one row")                                                             \
	X(RULES, "rules", "your answers")                                                          \
	X(LOG, "log", "log")                                                                       \
	X(RESOURCES, "resources", "resources")                                                     \
	X(THEMES, "themes", "themes")                                                              \
	X(CONNECTIONS, "connections", "connections")                                               \
	X(SESSIONS, "sessions", "sessions")                                                        \
	X(PLAN, "plan", "undo and redo")                                                           \
	X(BUSY, "busy", "undo while a command runs")                                               \
	X(PROGRESS, "progress", "progress")                                                        \
	X(HELP, "help", "help")                                                                    \
	X(PALETTE, "palette", "actions")                                                           \
	X(LEAVE, "leave", "leaving")                                                               \
	X(REPLAY, "replay", "replay")

enum place {
#define X(id, name, title) PLACE_##id,
	PLACES(X)
#undef X
	PLACE_COUNT
};

const char *action_name(enum action a);
const char *action_label(enum action a);
const char *action_help(enum action a);
enum action action_find(const char *name); /* ACTION_NONE: unknown */
const char *place_name(enum place p);
const char *place_title(enum place p);
int keys_place(const char *name); /* -1: unknown */
