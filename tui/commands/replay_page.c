/* replay_page - the page of `cordon replay --export html` around its data. */
/* SPDX-License-Identifier: MIT */
#include "tui/commands/replay_page.h"

/*
 * R.f: frames [milliseconds, rows of a whole screen or 0, changed rows [row, [[text, style],
 * ...]]]; R.s: styles; R.m: marks [milliseconds, words]. Text goes in as text: nothing of it is a
 * page.
 */
const char replay_page_head[] =
	"<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
	"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
	"style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n"
	"<title>cordon replay</title>\n<style>\n"
	"body{margin:0;background:#16181d;color:#d5dae3;font:14px system-ui,sans-serif}\n"
	"#s{font:14px/1.25 ui-monospace,Menlo,Consolas,monospace;margin:1em;padding:.6em;"
	"overflow:auto;background:#0c0d10;white-space:pre}\n"
	"#s div{height:1.25em}\n"
	"#b{display:flex;gap:.6em;align-items:center;margin:0 1em}\n"
	"#b button{font:inherit;background:#2a2e37;color:inherit;border:1px solid #4a5160;"
	"border-radius:3px;padding:.2em .8em}\n"
	"#l{position:relative;flex:1}#l input{width:100%}\n"
	"#m{margin:.6em 1em;columns:22em;padding:0;list-style:none}\n"
	"#m a{color:#82b4ff;cursor:pointer}\n"
	"</style></head><body>\n<div id=\"s\" role=\"img\" aria-label=\"terminal\"></div>\n"
	"<div id=\"b\"><button id=\"p\">play</button><span id=\"t\"></span>"
	"<span id=\"l\"><input id=\"r\" type=\"range\" min=\"0\" value=\"0\" "
	"aria-label=\"position\"></span>"
	"<button id=\"x\">x1</button></div>\n<ul id=\"m\"></ul>\n<script>\nconst R = ";

const char replay_page_tail[] =
	";\nconst E=id=>document.getElementById(id),S=E('s'),F=R.f;\n"
	"let at=-1,t=0,playing=false,speed=1,last=0;\n"
	"const end=F.length?F[F.length-1][0]:0;E('r').max=end;\n"
	"function whole(n){S.textContent='';for(let i=0;i<n;i++)"
	"S.appendChild(document.createElement('div'));}\n"
	"function row(e,runs){e.textContent='';for(const [text,style] of runs){"
	"const x=document.createElement('span');x.textContent=text;"
	"if(style)x.style.cssText=R.s[style];e.appendChild(x);}}\n"
	"function apply(f){if(f[1])whole(f[1]);for(const [n,runs] of f[2])"
	"if(S.children[n])row(S.children[n],runs);}\n"
	"function frame(ms){let a=0,b=F.length-1;while(a<b){const m=(a+b+1)>>1;"
	"if(F[m][0]<=ms)a=m;else b=m-1;}return a;}\n"
	"function show(ms){if(!F.length)return;const n=frame(ms);if(n!==at){let f=n;"
	"while(f>0&&!F[f][1])f--;if(at>=f&&at<n)f=at+1;for(;f<=n;f++)apply(F[f]);at=n;}\n"
	"E('r').value=ms;const c=v=>{v=Math.floor(v/1000);return Math.floor(v/60)+':'+"
	"String(v%60).padStart(2,'0')};E('t').textContent=c(ms)+' / '+c(end);}\n"
	"function step(now){if(playing){t+=(now-last)*speed;const n=F[at+1];"
	"if(n&&n[0]-t>2000)t=n[0]-2000;"
	"if(t>=end){t=end;play(false);}show(t);}last=now;requestAnimationFrame(step);}\n"
	"function play(on){playing=on;if(on&&t>=end)t=0;E('p').textContent=on?'pause':'play';}\n"
	"E('p').onclick=()=>play(!playing);\n"
	"E('r').oninput=()=>{t=+E('r').value;show(t);};\n"
	"E('x').onclick=()=>{speed=speed>=8?0.5:speed*2;E('x').textContent='x'+speed;};\n"
	"document.onkeydown=e=>{if(e.target.tagName==='INPUT'||e.target.tagName==='BUTTON')return;"
	"if(e.key===' '){play(!playing);e.preventDefault();}"
	"if(e.key==='ArrowRight')t=Math.min(end,t+5000);"
	"if(e.key==='ArrowLeft')t=Math.max(0,t-5000);show(t);};\n"
	"for(const [ms,words] of R.m){const i=document.createElement('li'),"
	"a=document.createElement('a');a.textContent=words;a.onclick=()=>{t=ms;show(t);};"
	"i.appendChild(a);E('m').appendChild(i);}\n"
	"if(R.title)document.title=R.title;show(0);requestAnimationFrame(n=>{last=n;step(n);});\n"
	"</script></body></html>\n";
