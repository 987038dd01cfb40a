// A page whose calls the API would refuse: said before they are made.

import { words } from "../format.js";
import { draw, empty } from "../parts/page.js";
import { who } from "../session.js";

export function show(main, { role }) {
  const { name, role: own } = who();
  draw(
    main,
    { title: "Not with this key" },
    empty(
      `This page is for a key with the role ${words(role)}`,
      `You are signed in with ${name}, whose role is ${words(own)}. An Owner can make another key.`,
    ),
  );
}
