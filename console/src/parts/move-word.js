// A status in a timeline.

import { statusWord } from "../format.js";

// What a status says as the end of a sentence: Order #1042 shipped.
export const moveWord = (status) => ({ PENDING: "pending again", PROCESSING: "in processing" })[status] ?? statusWord(status).toLowerCase();
