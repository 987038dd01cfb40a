// What the menu lists; the search for everything offers the same pages. Those without "/" at the beginning are beside the
// console, below its address.

export const MENU = [
  {
    items: [
      ["/", "Home", "home"],
      ["/orders", "Orders", "box"],
      ["/production", "Production", "made"],
      ["/products", "Products", "tag"],
      ["/customers", "Customers", "people"],
      ["/reports", "Reports", "chart"],
      ["/import", "Import", "upload"],
      ["/jobs", "Jobs", "clock"],
    ],
  },
  {
    title: "Developer",
    items: [
      ["/settings/developer/webhooks", "Webhooks", "hook"],
      ["/settings/developer/deliveries", "Deliveries", "send"],
      ["console/reference", "API reference", "book"],
    ],
  },
  {
    title: "Settings",
    items: [
      ["/settings/keys", "API keys", "key"],
      ["/settings/production", "Stages", "made"],
      ["/settings/shipping", "Carriers", "send"],
    ],
  },
  {
    title: "Help",
    items: [["console/guide", "Guide", "book"]],
  },
];
