"""Pages: a folder, a page, the tree, reading, searching, filtering, changing, exporting, deleting."""

import os
import time

from hindsight_client import Hindsight

client = Hindsight(base_url=os.environ["HINDSIGHT_API_URL"])
bank = "paged"
client.create_bank(bank_id=bank, name="Pages")
client.retain(bank_id=bank, content="The API is deployed to Kubernetes.")
client.retain(bank_id=bank, content="A failed deploy is rolled back.")
folder = client.create_knowledge_folder(bank, name="Operations")
page = client.create_knowledge_page(
    bank,
    name="Deploying",
    source_query="How is the API deployed?",
    parent_id=folder.id,
    tags=["ops", "type:runbook"],
)
time.sleep(1)
(root,) = client.get_knowledge_base_tree(bank).roots
assert (root.kind, root.children[0].kind) == ("folder", "page")
document = client.get_knowledge_page(bank, page.page_id)
assert (document.type, document.markdown.startswith("---")) == ("runbook", True)
for hit in client.search_knowledge_base(bank, q="how do we deploy", limit=5).results:
    assert hit.score > 0
assert len(client.get_knowledge_base_tree(bank, tags=["type:runbook"], tags_match="any_strict").roots) == 1
client.search_knowledge_base(bank, q="deploy", tags=["ops"], tags_match="all_strict")
groups = [{"and": [{"tags": ["type:runbook"]}, {"not": {"tags": ["draft"]}}]}]
client.search_knowledge_base(bank, q="deploy", tag_groups=groups)
client.update_knowledge_node(bank, page.page_id, name="Deploying (2)", tags=["ops", "reviewed"])
assert "index.md" in {file.path for file in client.export_knowledge_base(bank).files}
client.delete_knowledge_node(bank, folder.id)
client.delete_bank(bank_id=bank)
print("passed")
