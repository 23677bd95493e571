// Keeps a page as new as what is stored: it follows a stream of events, and loads its own parts again.
"use strict";

const stream = document.body.dataset.live;
const notice = document.getElementById("notice");

function say(text) {
    notice.textContent = text;
}

async function refresh(place) {
    const answer = await fetch(place, { headers: { accept: "text/html" } });
    if (!answer.ok) {
        return;
    }
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const focused = document.activeElement?.id;
    for (const part of document.querySelectorAll("[data-part]")) {
        const newer = page.getElementById(part.id);
        if (newer && newer.innerHTML !== part.innerHTML) {
            part.replaceWith(document.adoptNode(newer));
            say("This page has just been updated.");
        }
    }
    if (focused && document.activeElement?.id !== focused) {
        document.getElementById(focused)?.focus();
    }
}

if (stream) {
    const isEditor = stream.includes("editing");
    const events = new EventSource(stream);
    let waiting;
    // Several changes at once are one reason to look again.
    const lookAgain = () => {
        waiting ??= setTimeout(() => {
            waiting = undefined;
            refresh(location.href);
        }, 100);
    };
    events.addEventListener("changed", ({ data: place }) => {
        if (isEditor) {
            say("This article has been changed meanwhile. If you save, you are shown both texts first.");
            return;
        }
        if (place.startsWith("/") && decodeURI(place) !== decodeURI(location.pathname)) {
            history.replaceState(null, "", place);
        }
        lookAgain();
    });
    events.addEventListener("gone", () => {
        events.close();
        say("This article has been deleted.");
    });
    window.addEventListener("pagehide", () => events.close());
}
